/* A node of the overlay: one event in, actions out.
 *
 * The core of xylem. Pure: no clock, no system call, no allocation. Time and
 * randomness come in with cfg and events; all effects go out as actions. It has
 * two drivers: one over a fabric, and one in virtual time.
 *
 * The driver's contract: events in the order of time; no re-entry; all actions
 * carried out, in order, before the next step; then the buffers in the chain
 * out->freed taken back. A node that asked for `more` is stepped again with
 * OV_EV_TIMER.
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
 * number of local inputs; input 0 has the driver's own messages (states,
 * exits). */
size_t ov_node_size(const struct ov_cfg *cfg, uint32_t self, uint16_t inputs);

/* Builds a node in mem (ov_node_size bytes, aligned as malloc does), which the
 * caller frees after ov_node_fini(). cfg is borrowed and has passed
 * ov_cfg_check(); pool is borrowed and lends room for own records (the root has
 * none); seed is for the jitter of dials. */
struct ov_node *ov_node_init(void *mem, const struct ov_cfg *cfg,
                             struct ov_kept_pool *pool, uint32_t self,
                             uint16_t inputs, uint32_t seed);

/* Drops every buffer that the node holds (they are in out->freed) and returns
 * its cells to the pool. */
void ov_node_fini(struct ov_node *node, struct ov_out *out);

/* Advances the node by one event. out is overwritten. O(1) for frequent events,
 * else O(children), or O(members beneath) when a child is lost; bounded by the
 * room in out.
 *
 * A peer whose bytes break the protocol loses its link (OV_ACT_CLOSE followed
 * by OV_ACT_LOST); events that break the driver's contract are bugs.
 */
void ov_node_step(struct ov_node *node, const struct ov_event *ev,
                  struct ov_out *out);

/* A slot for a connection that came up, dialled by either side. OV_NO_LINK when
 * there is none; the connection must then be refused. */
uint16_t ov_node_free_link(const struct ov_node *node);
/* The number of slots; all slots are below it. */
uint16_t ov_node_links(const struct ov_node *node);

/* Root: how many frames OV_EV_DOWN may still bring for a stream. 0 before every
 * planned node has joined, for an unknown stream, and after its end. */
uint32_t ov_node_down_room(const struct ov_node *node, uint32_t stream);

/* Numbers about a node, for drivers that report them. */
struct ov_node_view {
    uint64_t down_head; /* of the stream asked for */
    uint64_t down_base;
    uint32_t kept_bytes; /* own records not yet acknowledged */
    uint32_t joined;     /* root: how many nodes beneath it have joined */
    uint32_t in_flight;  /* frames at the transport */
    uint16_t children;   /* how many are on links */
    uint8_t is_attached;
};
struct ov_node_view ov_node_look(const struct ov_node *node, uint32_t stream);

#endif
