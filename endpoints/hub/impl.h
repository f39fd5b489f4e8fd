/* What the files of the hub share. */
#ifndef ENDPOINTS_HUB_IMPL_H
#define ENDPOINTS_HUB_IMPL_H

#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/hub/book.h"
#include "endpoints/hub/hub.h"

enum hub_link_state {
    HUB_LINK_DIALLING,  /* we dial, and wait for the accept message */
    HUB_LINK_ACCEPTING, /* the peer is proved, and we have sent the accept */
    HUB_LINK_UP,        /* both sides are proved, and the node has the link */
    HUB_LINK_PROBING    /* the link of a probe */
};

/* A connection to a peer. */
struct hub_link {
    struct ep_conn *conn;  /* borrowed, of the transport */
    struct hub_node *node; /* the hosted node that the connection belongs to */
    uint32_t peer;
    uint16_t slot; /* index among the node's links, once it is up */
    uint8_t state;
    uint16_t reason; /* enum ep_auth_reason of a proved refusal; 0: none */
    uint8_t hello[EP_AUTH_HELLO_BYTES]; /* dialling: the hello that we sent */
};

/* The result of a probe: a dial that only asks whether a node listens, or
 * whether it has the root. */
enum hub_answer {
    HUB_SILENT,   /* no proved answer came */
    HUB_NOBODY,   /* the system refused it: no process listens there */
    HUB_OVER,     /* the node proved that it has left the tree for good */
    HUB_THERE,    /* the node listens */
    HUB_HAS_ROOT, /* the node listens, and reaches the root */
    HUB_NO_ROOT   /* the node listens, and the root has refused it */
};

/* Called with the answer to a probe. */
typedef void (*hub_told)(struct ep_hub *hub, uint32_t peer,
                         enum hub_answer answer);

/* A dial that only asks whether a node listens. */
struct hub_probe {
    struct hub_link link; /* must be the first member */
    LIST_ENTRY(hub_probe) entry;
    struct event *limit; /* owned */
    hub_told told; /* called with the answer; NULL: the node gets the answer */
    uint64_t seq;  /* seq of the OV_ACT_PROBE that the probe serves */
    uint16_t asker;
};

/* Finds out whether the root is gone, by asking other nodes; and keeps the
 * questions of others about it. */
struct hub_inquiry {
    /* Owned: questions of peers that wait until we have dialled the root. */
    LIST_HEAD(, hub_question) questions;
    struct event *limit; /* owned: ends the inquiry, or starts it again */
    struct event *grace; /* owned */
    unsigned waiting;    /* peers that were asked and have not answered */
    bool is_on;          /* an inquiry is running, as the root has refused us */
    bool has_doubt;      /* a peer does not know whether the root is there */
};

/* A node hosted here. */
struct hub_node {
    struct ep_hub *hub;
    struct ov_node *node; /* owned */
    /* [links_room], by slot; each owned once it is up */
    struct hub_link **links;
    struct hub_link *dialling; /* owned; NULL: the node does not dial */
    struct event *timer;
    struct event *attempt; /* limits the time of a dial */
    uint64_t armed_ns;     /* when `timer` fires; OV_NEVER: it is not running */
    uint64_t attach; /* number of the dial that waits for an address; 0: none */
    uint32_t wanted; /* the peer of that dial, or of `dialling` */
    uint32_t self, index;
    uint32_t links_room; /* grows as links come up */
    bool was_linked;     /* the node has had a link to a parent at some time */
    bool is_over;        /* the node has left: it has neither links nor events
                          * any longer */
};

struct hub_event {
    uint32_t index;
    struct ov_event ev;
};

struct ep_hub {
    struct ep_hub_cfg cfg;
    struct ep_transport *transport;
    struct hub_node *nodes; /* [cfg.nodes_count] */
    /* addresses of ancestors, children and their children */
    struct ep_book book;
    struct ov_buf address; /* our address as nodes send it to their parents */
    uint8_t address_mem[OV_ADDRESS_MAX];
    struct ep_auth_seen seen;
    uint8_t nonce[EP_AUTH_NONCE_BYTES];
    struct hub_event *queue; /* owned: a ring that grows */
    uint32_t queue_cap, queue_at, queue_len;
    struct event *later; /* owned; runs the queue after the loop's callbacks */
    struct ov_out *out;
    struct ov_kept_pool pool;
    struct ov_kept *cells;         /* owned; memory that the nodes use */
    LIST_HEAD(, hub_probe) probes; /* owned; probes without an answer yet */
    struct hub_inquiry inquiry;
    uint64_t probes_made;
    uint64_t refused;
    uint64_t frames_up, frames_down;
    bool is_running;
    bool is_root_gone; /* on_root_gone was called */
};

/* The files, each above those that it calls:
 *
 *     book  queue  link  probe  inquiry  act  step  peers  hub
 *
 * Files to the left of `step` only put events into the queue; step.c takes them
 * out.
 */

/* --- queue.c: events that wait, and the buffers they carry */
int ep_hub_queue_init(struct ep_hub *hub);
void ep_hub_queue_put(struct ep_hub *hub, uint32_t index,
                      const struct ov_event *ev);
struct hub_event ep_hub_queue_take(struct ep_hub *hub);
/* Returns how many DOWN frames of a stream wait in the queue. */
uint32_t ep_hub_queue_downs(const struct ep_hub *hub, uint32_t stream);
/* Drops the references that an event carries. */
void ep_hub_event_drop(struct ep_hub *hub, const struct ov_event *ev);
/* Drops all events in the queue. */
void ep_hub_queue_drop(struct ep_hub *hub);
/* Takes back the buffers that a step has freed. */
void ep_hub_take_back(struct ep_hub *hub, struct ov_out *out);

/* --- link.c: dialling and ending connections */
/* Dials `peer` as soon as its address is known. A dial of a peer that is not
 * the planned parent fails when it takes longer than one attempt may. */
void ep_hub_dial(struct hub_node *node, uint32_t peer, uint64_t attach);
void ep_hub_dial_now(struct hub_node *node);
/* Ends a dial that has failed, and whose connection is closed already. */
void ep_hub_dial_end(struct hub_node *node);
void ep_hub_close_link(struct hub_node *node, uint16_t slot);
/* Tells a proved peer why we do not take it in; `reason` is one of the
 * overlay's or an enum ep_auth_reason. */
void ep_hub_reject(struct ep_hub *hub, struct ep_request *req,
                   const uint8_t *hello, unsigned reason);
/* Ends a node that has left the tree for good. */
void ep_hub_end_node(struct hub_node *node);

/* --- probe.c */
/* Probes a node on behalf of `node`, which gets the answer to this
 * OV_ACT_PROBE. */
void ep_hub_probe(struct hub_node *node, const struct ov_act *act);
/* Probes `peer` on behalf of the hub, and calls `told` with the answer. The
 * root is asked whether it listens, other nodes whether they have the root. */
void ep_hub_ask(struct ep_hub *hub, uint32_t peer, hub_told told);
/* Ends a probe whose connection is closed, with this answer. */
void ep_hub_probe_end(struct hub_link *link, enum hub_answer answer);
void ep_hub_probes_drop(struct ep_hub *hub);

/* --- inquiry.c */
bool ep_hub_inquiry_init(struct ep_hub *hub);
/* Keeps a peer's question whether we have the root, until it can be answered.
 * Returns false when it was not kept. */
bool ep_hub_inquiry_put(struct ep_hub *hub, struct ep_request *req,
                        const uint8_t *hello);
/* Handles the result of a dial of the root. */
void ep_hub_inquiry_on_root(struct ep_hub *hub, uint32_t peer,
                            enum hub_answer answer);
/* Ends the inquiry because some node has the root. */
void ep_hub_inquiry_dismiss(struct ep_hub *hub);
/* Ends the inquiry because we leave the tree. */
void ep_hub_inquiry_stop(struct ep_hub *hub);
void ep_hub_inquiry_fini(struct ep_hub *hub);

/* --- act.c: carrying out actions */
void ep_hub_act(struct hub_node *node, const struct ov_out *out);

/* --- step.c */
/* Steps the nodes until the queue is empty, also of events that the owner adds
 * in on_quiet. Does nothing when it is running already. */
void ep_hub_run(struct ep_hub *hub);
/* Queues an event and calls ep_hub_run. */
void ep_hub_post(struct ep_hub *hub, uint32_t index, const struct ov_event *ev);
/* Queues an event that is stepped only after the loop's current callbacks,
 * together with all events that these add. */
void ep_hub_post_later(struct ep_hub *hub, uint32_t index,
                       const struct ov_event *ev);
void ep_hub_on_later(evutil_socket_t fd, short what, void *arg);
void ep_hub_on_timer(evutil_socket_t fd, short what, void *arg);

/* --- peers.c: what the transport reports */
extern const struct ep_transport_events ep_hub_transport_events;
void ep_hub_on_attempt_over(evutil_socket_t fd, short what, void *arg);

#endif
