/* A node of the overlay, which is stepped: one event goes in, actions come out.
 *
 * This is the core of xylem. It reads no clock, makes no system call and
 * allocates no memory. Time and randomness come in with the seed and the
 * events; all effects go out as actions. It has two drivers: one over a fabric,
 * and one in virtual time.
 *
 * The driver must give events in the order of time, and not step a node from
 * within its step. Before the next step it carries out all actions, in order,
 * and takes back the buffers in the chain out->freed. When out->more is set it
 * steps the node again with OV_EV_TIMER.
 */
#ifndef OVERLAY_NODE_H
#define OVERLAY_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/cfg.h"
#include "overlay/event.h"
#include "overlay/kept.h"
#include "overlay/out.h"

struct ov_node;

/* The bytes of memory that a node needs: hundreds for a leaf; an inner node
 * needs some for each member of its subtree and for each child. `inputs` is the
 * number of local inputs; the driver's own messages (states, exits) are read
 * from input 0. */
size_t ov_node_size(const struct ov_cfg *cfg, uint32_t self, uint16_t inputs);

/* Builds a node in mem (ov_node_size bytes, aligned as malloc does), which the
 * caller frees after ov_node_fini(). cfg is borrowed and has passed
 * ov_cfg_check(). pool is borrowed and lends room for the node's own records;
 * the root has no such records. seed is for the random times before dials. */
struct ov_node *ov_node_init(void *mem, const struct ov_cfg *cfg,
                             struct ov_kept_pool *pool, uint32_t self,
                             uint16_t inputs, uint32_t seed);

/* Drops every buffer that the node holds, so that they are in out->freed, and
 * returns the cells of its own records to the pool. */
void ov_node_fini(struct ov_node *node, struct ov_out *out);

/* Advances the node by one event. out is overwritten. Costs O(1) for frequent
 * events, else O(children), or O(members beneath) when a child is lost; the
 * room in out limits it.
 *
 * When a peer's bytes break the protocol, the node closes the link
 * (OV_ACT_CLOSE) and goes on as if the link had failed. An event that breaks
 * the driver's contract is a bug, and ends the program.
 */
void ov_node_step(struct ov_node *node, const struct ov_event *ev,
                  struct ov_out *out);

/* Finds a free slot for a connection that came up, dialled by either side.
 * Returns OV_NO_LINK when no slot is free; the driver must then refuse the
 * connection. */
uint16_t ov_node_free_link(const struct ov_node *node);
/* The number of slots for links; the number of each slot is below it. */
uint16_t ov_node_links(const struct ov_node *node);

/* Root: how many frames a stream has room for, each given by OV_EV_DOWN. 0
 * until every planned node has joined, for an unknown stream, and after the
 * stream's end. */
uint32_t ov_node_down_room(const struct ov_node *node, uint32_t stream);

/* Figures of a node, for drivers that report them. */
struct ov_node_view {
    uint64_t down_head; /* number of the next frame of the stream that the
                           driver names */
    uint64_t down_base;
    /* root: how many frames the child that has taken most of the stream is
     * ahead of down_base, and the node and the process that are furthest
     * behind; TOPO_NONE: none is, or the process is not known */
    uint64_t down_lead;
    uint32_t down_node, down_rank;
    uint32_t kept_bytes; /* bytes of own records that the root has not yet
                            acknowledged */
    uint32_t joined;     /* root: how many nodes have joined */
    uint32_t in_flight;  /* frames that the transport has, of all links */
    uint16_t children;   /* how many children have a link to this node */
    uint8_t is_attached;
};
struct ov_node_view ov_node_look(const struct ov_node *node, uint32_t stream);
/* Root: tells whether the node of this number has joined or was given up.
 * O(1) on average. */
bool ov_node_has_joined(const struct ov_node *node, uint32_t number);

#endif
