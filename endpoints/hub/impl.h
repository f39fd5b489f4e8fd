/* What the files of the hub share. */
#ifndef ENDPOINTS_HUB_IMPL_H
#define ENDPOINTS_HUB_IMPL_H

#include <sys/queue.h>

#include <event2/event.h>

#include "endpoints/hub/book.h"
#include "endpoints/hub/hub.h"

enum hub_link_state {
    HUB_LINK_DIALLING,  /* waiting for the accept */
    HUB_LINK_ACCEPTING, /* proved, waiting for it to come up */
    HUB_LINK_UP,        /* proved, waiting for the link to come up */
    HUB_LINK_PROBING    /* the link of a hub_probe */
};

/* A connection. */
struct hub_link {
    struct ep_conn *conn;  /* borrowed, of the transport */
    struct hub_node *node; /* the hosted node */
    uint32_t peer;
    uint16_t slot; /* of the node's links, once up */
    uint8_t state;
    uint16_t reason; /* of a proved refusal: enum ep_auth_reason; or 0 */
    uint8_t hello[EP_AUTH_HELLO_BYTES]; /* dialling: what we sent */
};

/* The result of a dial that only asks. */
enum hub_answer {
    HUB_SILENT,   /* nothing was heard, or nothing that was proved */
    HUB_NOBODY,   /* the system refuses it: nothing listens there */
    HUB_OVER,     /* that node has left the tree for good */
    HUB_THERE,    /* it listens */
    HUB_HAS_ROOT, /* and has the root, */
    HUB_NO_ROOT   /* or is refused there */
};

typedef void (*hub_told)(struct ep_hub *hub, uint32_t peer,
                         enum hub_answer answer);

/* A dial that only asks whether a node listens. */
struct hub_probe {
    struct hub_link link; /* must be the first member */
    LIST_ENTRY(hub_probe) entry;
    struct event *limit; /* owned */
    hub_told told;       /* waits for the answer; NULL: the node does */
    uint64_t seq;        /* of the OV_ACT_PROBE that it serves */
    uint16_t asker;
};

/* Whether the root is gone: asking others, and being asked. */
struct hub_inquiry {
    /* Owned: they wait for the result of our dial. */
    LIST_HEAD(, hub_question) questions;
    struct event *limit; /* owned: ends the inquiry, or begins it anew */
    struct event *grace; /* owned */
    unsigned waiting;    /* peers that were asked and have not answered */
    bool is_on;          /* the root has refused us */
    bool has_doubt;      /* a peer does not know */
};

/* A node hosted here. */
struct hub_node {
    struct ep_hub *hub;
    struct ov_node *node;      /* owned */
    struct hub_link **links;   /* [links_room], by slot; owned when up */
    struct hub_link *dialling; /* owned; NULL: no dial */
    struct event *timer;
    struct event *attempt; /* bounds the time of a dial */
    uint64_t armed_ns;     /* OV_NEVER: the timer is not running */
    uint64_t attach;       /* of the dial that waits for an address, or 0 */
    uint32_t wanted;       /* the peer of that dial or of `dialling` */
    uint32_t self, index;
    uint32_t links_room; /* grows as links come up */
    bool was_linked;     /* had a link to a parent once */
    bool is_over;        /* has neither links nor events any longer */
};

struct hub_event {
    uint32_t index;
    struct ov_event ev;
};

struct ep_hub {
    struct ep_hub_cfg cfg;
    struct ep_transport *transport;
    struct hub_node *nodes; /* [cfg.nodes_count] */
    struct ep_book book;    /* of ancestors, children and theirs */
    struct ov_buf address;  /* our address, as nodes tell it */
    uint8_t address_mem[OV_ADDRESS_MAX];
    struct ep_auth_seen seen;
    uint8_t nonce[EP_AUTH_NONCE_BYTES];
    struct hub_event *queue; /* owned: a ring that grows */
    uint32_t queue_cap, queue_at, queue_len;
    struct event *later; /* owned; runs the queue after a round of callbacks */
    struct ov_out *out;
    struct ov_kept_pool pool;
    struct ov_kept *cells;         /* owned; lent to the nodes */
    LIST_HEAD(, hub_probe) probes; /* under way; owned */
    struct hub_inquiry inquiry;
    uint64_t probes_made;
    uint64_t refused;
    uint64_t frames_up, frames_down;
    bool is_running;
    bool is_root_gone; /* the owner was told */
};

/* The files, each above those that it calls:
 *
 *     book  queue  link  probe  inquiry  act  step  peers  hub
 *
 * Those below step only put events into the queue; step.c runs it. */

/* --- queue.c: events that wait, and the buffers they carry */
int ep_hub_queue_init(struct ep_hub *hub);
void ep_hub_queue_put(struct ep_hub *hub, uint32_t index,
                      const struct ov_event *ev);
struct hub_event ep_hub_queue_take(struct ep_hub *hub);
/* The number of DOWN frames of a stream that wait. */
uint32_t ep_hub_queue_downs(const struct ep_hub *hub, uint32_t stream);
/* Drops the references that an event carries. */
void ep_hub_event_drop(struct ep_hub *hub, const struct ov_event *ev);
/* Drops all that waits. */
void ep_hub_queue_drop(struct ep_hub *hub);
/* Takes back buffers that a step has freed. */
void ep_hub_take_back(struct ep_hub *hub, struct ov_out *out);

/* --- link.c: dialling and ending connections */
/* Dials `peer` as soon as its address is known. If it is not the planned
 * parent, the dial fails when that takes longer than an attempt may. */
void ep_hub_dial(struct hub_node *node, uint32_t peer, uint64_t attach);
void ep_hub_dial_now(struct hub_node *node);
/* Ends a dial that has failed; its connection is gone. */
void ep_hub_dial_end(struct hub_node *node);
void ep_hub_close_link(struct hub_node *node, uint16_t slot);
/* Tells a proved peer why it is not taken in: a reason of the overlay or an
 * enum ep_auth_reason. */
void ep_hub_reject(struct ep_hub *hub, struct ep_request *req,
                   const uint8_t *hello, unsigned reason);
/* Ends a node that has left the tree for good. */
void ep_hub_end_node(struct hub_node *node);

/* --- probe.c */
/* Probes for the node; the answer belongs to this OV_ACT_PROBE. */
void ep_hub_probe(struct hub_node *node, const struct ov_act *act);
/* Probes for the hub itself. The root is asked whether it is there, others
 * whether they have the root. */
void ep_hub_ask(struct ep_hub *hub, uint32_t peer, hub_told told);
/* Ends a probe whose link is gone. */
void ep_hub_probe_end(struct hub_link *link, enum hub_answer answer);
void ep_hub_probes_drop(struct ep_hub *hub);

/* --- inquiry.c */
bool ep_hub_inquiry_init(struct ep_hub *hub);
/* A peer asks whether we have the root. False: the question is not taken. */
bool ep_hub_inquiry_put(struct ep_hub *hub, struct ep_request *req,
                        const uint8_t *hello);
/* Takes the result of a dial of the root. */
void ep_hub_inquiry_on_root(struct ep_hub *hub, uint32_t peer,
                            enum hub_answer answer);
/* Ends the inquiry, as some node has the root. */
void ep_hub_inquiry_dismiss(struct ep_hub *hub);
/* Ends the inquiry, as we leave. */
void ep_hub_inquiry_stop(struct ep_hub *hub);
void ep_hub_inquiry_fini(struct ep_hub *hub);

/* --- act.c: carrying out actions */
void ep_hub_act(struct hub_node *node, const struct ov_out *out);

/* --- step.c */
/* Steps until nothing is left, including what the owner adds when it is quiet.
 * Does nothing when it is running already. */
void ep_hub_run(struct ep_hub *hub);
/* Queues an event and runs. */
void ep_hub_post(struct ep_hub *hub, uint32_t index, const struct ov_event *ev);
/* Queues an event that may wait for the end of the loop's callbacks: whatever
 * comes besides is then answered together. */
void ep_hub_post_later(struct ep_hub *hub, uint32_t index,
                       const struct ov_event *ev);
void ep_hub_on_later(evutil_socket_t fd, short what, void *arg);
void ep_hub_on_timer(evutil_socket_t fd, short what, void *arg);

/* --- peers.c: what the transport reports */
extern const struct ep_transport_events ep_hub_transport_events;
void ep_hub_on_attempt_over(evutil_socket_t fd, short what, void *arg);

#endif
