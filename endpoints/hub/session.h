/* Sizes of a session: from few numbers to a configuration that keeps the
 * memory of every process within its bounds.
 *
 * Bounds: 32 MiB for the launcher and for a daemon with one node, and 1 MiB
 * for each further node of a daemon. What counts: per link the receives that
 * are posted and the frames of a child that are held; per node the windows
 * of its streams and of its own records.
 */
#ifndef ENDPOINTS_HUB_SESSION_H
#define ENDPOINTS_HUB_SESSION_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "endpoints/hub/hub.h"

struct ep_session_sizes {
    uint32_t frame_bytes;
    uint32_t up_window_bytes;
    uint16_t posted_receives;
    uint16_t up_frames;
    uint16_t down_frames;
};

/* Sizes for a tree in which a daemon hosts up to nodes_per_daemon nodes: the
 * largest frames that keep to the bounds, 128 KiB at most. O(1). */
struct ep_session_sizes ep_session_sizes(struct topo_tree tree,
                                         uint32_t nodes_per_daemon);

/* Puts sizes and the number of inputs of a node into a configuration, and
 * reads them back into the overlay's and the transport's. The launcher and
 * every daemon call the second with what travelled. Return 0, OV_EINVAL,
 * OV_ENOMEM or OV_EFULL with `why` (EP_WHY_MAX bytes). */
int ep_session_pack(struct ep_boot_config *config,
                    const struct ep_session_sizes *sizes, uint32_t inputs);
int ep_session_configure(const struct ep_boot_config *config,
                         struct ep_hub_cfg *hub, char *why);

/* Descriptors that a process hosting these nodes needs, links of children
 * included. */
uint64_t ep_session_descriptors(struct topo_tree tree, uint32_t nodes,
                                uint32_t procs_per_node);

#endif
