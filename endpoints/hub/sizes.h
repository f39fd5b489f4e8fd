/* Sizes of a session: from few numbers to a configuration that keeps the memory
 * of every process within its bounds.
 *
 * The bounds are those of ep_session_launcher_bytes() and
 * ep_session_daemon_bytes(). These take most of the memory: for each link the
 * receives that are posted and the frames of a child that are held; for each
 * node the windows of its streams and of its own records; in a daemon
 * unfinished lines. Children beyond those of the plan that the bounds have room
 * for share some frames, and their links take a page for each receive.
 */
#ifndef ENDPOINTS_HUB_SIZES_H
#define ENDPOINTS_HUB_SIZES_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"

enum {
    /* Children that a node may have: with more, the bound of one node would not
     * hold, whatever the size of a frame. Besides its frames a link takes about
     * 25 KiB for libfabric. */
    EP_SESSION_CHILDREN_MAX = 256,
    /* A daemon keeps this much of unfinished lines in memory, however many
     * nodes it has. */
    EP_SESSION_TAILS_BYTES = 8 << 20,
    /* Defaults for each link, when the configuration says nothing else. */
    EP_SESSION_POSTED_RECEIVES = 4,
    EP_SESSION_UP_FRAMES = 4,
    /* For all children together that were not planned and for which there is no
     * room. */
    EP_SESSION_LENT_FRAMES = 8,
    EP_SESSION_CONTROL_FRAMES = 4,
};

struct ep_session_sizes {
    uint32_t frame_bytes;
    uint32_t up_window_bytes;
    uint16_t posted_receives;
    uint16_t up_frames;
    uint16_t standing; /* children of a node that may send this many unasked */
    uint16_t lent;     /* frames of all other children together */
    uint16_t down_frames;
};

/* The most children of an inner node of this tree. O(1). */
uint32_t ep_session_children(struct topo_tree tree);

/* Sizes for a tree in which a daemon hosts up to nodes_per_daemon nodes: the
 * largest frames within the bounds, 128 KiB at most. The caller must see to it
 * that a node has at most EP_SESSION_CHILDREN_MAX children. O(1). */
struct ep_session_sizes ep_session_sizes(struct topo_tree tree,
                                         uint32_t nodes_per_daemon);

/* The most memory that the launcher may take with so many nodes, with so many
 * processes in all of its jobs, and with so many nodes that it has adopted.
 * O(1). */
uint64_t ep_session_launcher_bytes(uint64_t nodes, uint64_t procs,
                                   uint64_t adopted);

/* The most memory that a daemon with this many nodes and processes may take.
 * When it keeps output for late tools, EP_CACHE_POOL_BYTES are added. O(1). */
uint64_t ep_session_daemon_bytes(uint64_t nodes, uint64_t procs);

/* Puts sizes and the number of inputs of a node into a configuration. Returns
 * 0, OV_ENOMEM or OV_EFULL. */
int ep_session_pack(struct ep_boot_config *config,
                    const struct ep_session_sizes *sizes, uint32_t inputs);

/* The number of inputs in a configuration. */
uint32_t ep_session_inputs(const struct ep_boot_config *config);

/* The descriptors that a process hosting these nodes needs, links of children
 * included; per_node is what the processes of one node need. */
uint64_t ep_session_descriptors(struct topo_tree tree, uint32_t nodes,
                                uint32_t per_node);

#endif
