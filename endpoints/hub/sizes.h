/* Sizes of a session: computes from the shape of the tree a configuration that
 * keeps the memory of every process within its bounds.
 *
 * The bounds are those of ep_session_launcher_bytes() and
 * ep_session_daemon_bytes(). Most of the memory is for: the posted receives of
 * each link and the frames held of each child; the windows of each node's
 * streams and of its own records; and a daemon's unfinished lines. Children
 * that were not planned, and for which the bounds have no room, share some
 * frames, and each receive of their links takes a page.
 */
#ifndef ENDPOINTS_HUB_SIZES_H
#define ENDPOINTS_HUB_SIZES_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"

enum {
    /* Most children of a node: with more, the bound of one node would not hold,
     * whatever the size of a frame. Besides its frames a link takes about 25
     * KiB for libfabric. */
    EP_SESSION_CHILDREN_MAX = 256,
    /* A daemon keeps this much of unfinished lines in memory, however many
     * nodes it has. */
    EP_SESSION_TAILS_BYTES = 8 << 20,
    /* Values for each link, when the configuration gives none. */
    EP_SESSION_POSTED_RECEIVES = 4,
    EP_SESSION_UP_FRAMES = 4,
    /* frames for all children together that were not planned and for which the
     * bounds have no room */
    EP_SESSION_LENT_FRAMES = 8,
    EP_SESSION_CONTROL_FRAMES = 4,
};

struct ep_session_sizes {
    uint32_t frame_bytes;
    uint32_t up_window_bytes;
    uint16_t posted_receives;
    uint16_t up_frames;
    /* number of children of a node that may each send up_frames unasked */
    uint16_t standing;
    uint16_t lent; /* frames for all further children together */
    uint16_t down_frames;
};

/* Returns the most children that a node of this tree has. O(1). */
uint32_t ep_session_children(struct topo_tree tree);

/* Computes the sizes for a tree in which a daemon hosts up to nodes_per_daemon
 * nodes: the largest frames within the bounds, 128 KiB at most. The caller must
 * ensure that a node has at most EP_SESSION_CHILDREN_MAX children. O(1). */
struct ep_session_sizes ep_session_sizes(struct topo_tree tree,
                                         uint32_t nodes_per_daemon);

/* Returns the most memory that the launcher may take with this many nodes, this
 * many processes in all of its jobs, and this many adopted nodes. O(1). */
uint64_t ep_session_launcher_bytes(uint64_t nodes, uint64_t procs,
                                   uint64_t adopted);

/* Returns the most memory that a daemon with this many nodes and processes may
 * take. A daemon that keeps output for late tools may take EP_CACHE_POOL_BYTES
 * more. O(1). */
uint64_t ep_session_daemon_bytes(uint64_t nodes, uint64_t procs);

/* Puts the sizes, and the number of inputs of a node, into a configuration.
 * Returns 0, OV_ENOMEM or OV_EFULL. */
int ep_session_pack(struct ep_boot_config *config,
                    const struct ep_session_sizes *sizes, uint32_t inputs);

/* Returns the number of inputs of a node in a configuration. */
uint32_t ep_session_inputs(const struct ep_boot_config *config);

/* Returns how many descriptors a process needs that hosts these nodes, with the
 * links of their children; per_node is the number for the processes of one
 * node. */
uint64_t ep_session_descriptors(struct topo_tree tree, uint32_t nodes,
                                uint32_t per_node);

#endif
