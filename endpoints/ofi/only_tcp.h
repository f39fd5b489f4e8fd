/* Which libfabric the links use. */
#ifndef ENDPOINTS_OFI_ONLY_TCP_H
#define ENDPOINTS_OFI_ONLY_TCP_H

#include <stdbool.h>

/* True when libfabric is linked in, with the provider tcp alone. only_tcp.c
 * says so in the programs; module.c says no in the module, which uses the
 * shared libfabric. */
extern const bool ep_ofi_only_tcp;

#endif
