/* Chooses the provider that carries the links. */
#ifndef ENDPOINTS_OFI_PROVIDER_H
#define ENDPOINTS_OFI_PROVIDER_H

#include "endpoints/ofi/ofi.h"

/* Chooses the provider, and gets its description for the address on which the
 * listener will be: the provider that cfg names, else the one that FI_PROVIDER
 * names, else verbs if it has a device, else tcp. Costs 0.1 s the first time in
 * a process.
 *
 * Returns 0 with `*out` (owned by the caller, for fi_freeinfo()) and its
 * address in `addr`; or OV_EINVAL, OV_EFABRIC or OV_ENOMEM with `why`.
 */
int ep_provider_choose(const struct ep_transport_cfg *cfg,
                       union ep_sockaddr *addr, struct fi_info **out,
                       char *why);

#endif
