/* Opens the hub of a session with the session's sizes. */
#ifndef ENDPOINTS_HUB_SESSION_H
#define ENDPOINTS_HUB_SESSION_H

#include <stdint.h>

#include "endpoints/hub/hub.h"
#include "endpoints/hub/sizes.h"

/* Opens the hub with the configuration of the session, in the launcher and in
 * daemons. The caller fills in base, auth, nodes, events and arg of *hub
 * before. Raises the limit on descriptors to `descriptors` first; 0: leaves it
 * as it is. Returns 0, OV_EINVAL (sizes that do not fit together) or what
 * ep_limits_descriptors, ep_transport_load and ep_hub_open return, with `why`
 * (EP_WHY_MAX bytes). */
int ep_session_open(const struct ep_boot_config *config, struct ep_hub_cfg *hub,
                    uint64_t descriptors, struct ep_hub **out, char *why);

#endif
