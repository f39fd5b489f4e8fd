/* Which libfabric the links use. */
#ifndef ENDPOINTS_OFI_ONLY_TCP_H
#define ENDPOINTS_OFI_ONLY_TCP_H

#include <stdbool.h>

/* True when libfabric is linked in, with the provider tcp alone. only_tcp.c
 * sets it in the programs; in the module, which uses the shared libfabric,
 * module.c sets it to false. */
extern const bool ep_ofi_only_tcp;

#endif
