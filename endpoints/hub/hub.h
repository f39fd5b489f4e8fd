/* The hub: drives the nodes of one process over a transport.
 *
 * It owns the transport and every node hosted here. It proves peers in both
 * directions before anything that they send reaches a node, turns messages of
 * the fabric and timers into events of the nodes, and carries out the nodes'
 * actions. Actions that concern processes, input and output are carried out by
 * the owner, in callbacks.
 *
 * Events are queued and stepped one after another: a callback may post further
 * events at any time.
 */
#ifndef ENDPOINTS_HUB_HUB_H
#define ENDPOINTS_HUB_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "endpoints/fabric/auth.h"
#include "endpoints/fabric/transport.h"
#include "overlay/node.h"

struct event_base;
struct ep_hub;

/* `index` numbers the nodes hosted here, in the order of ep_hub_cfg.nodes.
 * Callbacks for the root alone may be NULL elsewhere, and on_read may be NULL
 * at the root. */
struct ep_hub_events {
    /* Reads an input into read->buf, a buffer of the hub with one reference for
     * the callee: at most max_bytes. Must fill in the rest of *read before it
     * returns, but for records_max, which is set and must stay. */
    void (*on_read)(void *arg, uint32_t index, uint16_t input,
                    uint32_t max_bytes, struct ov_read *read);
    /* A frame of a stream has come for this node. The callee owns one reference
     * to slice->buf, and calls ep_hub_consumed(), now or later. */
    void (*on_consume)(void *arg, uint32_t index, const struct ov_act *act,
                       const struct ov_slice *slice);
    /* At the root: a record for the sinks has come. The callee owns one
     * reference to slice->buf, and calls ep_hub_taken(). */
    void (*on_record)(void *arg, const struct ov_act *act,
                      const struct ov_slice *slice);
    /* At the root: every node has joined. */
    void (*on_joined)(void *arg);
    /* The parent of the node `index` has refused to take it in, for a proved
     * reason (enum ov_refuse_reason); the node dials again. May be NULL. */
    void (*on_refused)(void *arg, uint32_t index, uint32_t parent,
                       uint16_t reason);
    /* At the root: a node is lost for good. */
    void (*on_lost)(void *arg, uint32_t node);
    /* A node has lost its parent and dials others; and one of these has taken
     * the node in. Each may be NULL. */
    void (*on_orphan)(void *arg, uint32_t index, uint32_t parent);
    void (*on_adopted)(void *arg, uint32_t index, uint32_t parent);
    /* The node must end its processes and leave (enum ov_end); the job goes on
     * without it. Not called at the root. */
    void (*on_end)(void *arg, uint32_t index, enum ov_end why);
    /* The tree is over: nothing listens at the root's address any longer, or
     * the root has proved that it has left. Called once; never at the root. */
    void (*on_root_gone)(void *arg);
    /* At the root: a stream cannot go on because of that node, or of a process
     * there. */
    void (*on_stall)(void *arg, uint32_t stream, uint32_t node, uint32_t rank);
    /* The node has passed on the goodbye: nothing is left to do. */
    void (*on_leave)(void *arg, uint32_t index);
    /* Called when all events were stepped and the queue is empty. May be NULL.
     */
    void (*on_quiet)(void *arg);
};

struct ep_hub_cfg {
    struct event_base *base; /* borrowed */
    const struct ep_transport_ops *ops;
    /* base, events and arg of it are not used */
    struct ep_transport_cfg transport;
    const struct ep_auth *auth; /* borrowed */
    struct ov_cfg overlay;
    const uint32_t *nodes; /* nodes hosted here, ascending */
    uint32_t nodes_count;
    uint16_t inputs; /* number of inputs of each node */
    const struct ep_hub_events *events;
    void *arg;
};

/* Opens transport and listener and makes the nodes; nothing happens before
 * ep_hub_start(). Returns 0, an error of the transport's open, OV_ENOMEM or
 * OV_EINVAL, with a text in `why` (EP_WHY_MAX bytes). */
int ep_hub_open(const struct ep_hub_cfg *cfg, struct ep_hub **out, char *why);

/* Closes links (frames already sent still leave) and frees everything. All
 * buffers that callbacks own must have been returned. */
void ep_hub_close(struct ep_hub *hub);

/* Takes all nodes out of the tree for good: links end (frames already sent
 * still arrive), no callback comes, and dials and probes from outside are
 * answered with a proof that the node has left. Later calls have no effect,
 * except on buffers. */
void ep_hub_leave(struct ep_hub *hub);

/* Starts the nodes: they dial their parents as soon as the addresses are
 * known. */
void ep_hub_start(struct ep_hub *hub);

/* Fills in the address at which this process listens. */
void ep_hub_self(const struct ep_hub *hub, struct ep_boot_peer *self);
/* Sets the address of a node, usually an ancestor of a hosted one; a dial that
 * waited for it is made. Returns 0 or OV_ENOMEM. */
int ep_hub_peer(struct ep_hub *hub, const struct ep_boot_peer *peer);
/* Returns what is known of a node, valid until the next event or call; NULL
 * when nothing is known. */
const struct ep_boot_peer *ep_hub_find(const struct ep_hub *hub, uint32_t node);
/* Returns the address of a node, valid until the address of another one becomes
 * known; NULL when it is not known. */
const char *ep_hub_address(const struct ep_hub *hub, uint32_t node);

/* True when the hosted node `index` has at some time had a link to a parent
 * that both sides have proved. */
bool ep_hub_was_linked(const struct ep_hub *hub, uint32_t index);

/* Finds out, for the first node hosted here, whether the root still listens; if
 * not, on_root_gone is called. A root that does not answer counts as
 * listening. */
void ep_hub_ask_root(struct ep_hub *hub);

const char *ep_hub_provider(const struct ep_hub *hub);

void ep_hub_ready(struct ep_hub *hub, uint32_t index, uint16_t input);
void ep_hub_consumed(struct ep_hub *hub, uint32_t index, uint32_t stream,
                     uint64_t frames, uint32_t rank);
void ep_hub_taken(struct ep_hub *hub, uint32_t cookie);
/* For the root: says that this process is about to be stopped, or runs again,
 * so that its children do not take the silence for a loss. The children have
 * heard of it when ep_hub_look() shows nothing in flight. */
void ep_hub_pause(struct ep_hub *hub, bool is_paused);
/* For the root: sends one more frame of a stream; the hub owns one reference to
 * buf from now on. */
void ep_hub_down(struct ep_hub *hub, uint32_t stream, struct ov_buf *buf,
                 uint32_t payload_bytes, uint32_t flags);
uint32_t ep_hub_down_room(const struct ep_hub *hub, uint32_t stream);
struct ov_node_view ep_hub_look(const struct ep_hub *hub, uint32_t index,
                                uint32_t stream);
/* For the root: tells whether the node of this number has joined the tree or
 * was given up. */
bool ep_hub_has_joined(const struct ep_hub *hub, uint32_t number);

struct ov_buf *ep_hub_buf(struct ep_hub *hub);
void ep_hub_put(struct ep_hub *hub, struct ov_buf *buf);
/* Takes a buffer whose last reference the caller has dropped. */
void ep_hub_free(struct ep_hub *hub, struct ov_buf *buf);

struct ep_hub_stats {
    struct ep_transport_stats transport;
    uint64_t frames_up, frames_down; /* sent or received */
    uint64_t refused_peers;
};
void ep_hub_stats(const struct ep_hub *hub, struct ep_hub_stats *out);

#endif
