/* What the files of the libfabric transport share.
 *
 * fabric.c    opens and closes everything; the table of functions
 * poll.c      reads queues, makes callbacks; the event loop
 * listen.c    the listener and the requests that come to it
 * stray.c     sockets that have connected and have proved nothing
 * conn.c      the life of a link
 * frames.c    sends and receives of a link
 * state.c     the states of a link
 * cq.c        completion queues
 * wake.c      when the loop runs the next pass
 * provider.c  which provider to use; only_tcp.h: from which libfabric
 * slab.c      registered buffers
 * sockets.c   this process's own sockets as the system sees them
 * address.c   interfaces and numeric addresses
 * cm.c        private data of connections
 * error.c     errors of libfabric as ours
 *
 * Each calls only those below it in this list. The one call upward is `pass`.
 *
 * Callbacks are made in the pass of poll.c only; everything else may run inside
 * one. A link is closed between callbacks: drop() just moves it to the dead.
 */
#ifndef ENDPOINTS_OFI_OFI_H
#define ENDPOINTS_OFI_OFI_H

#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <event2/event.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "endpoints/fabric/transport.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

union ep_sockaddr {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

struct ep_cq;
struct ep_slab;

/* A buffer as the provider needs it; pub must be first. */
struct ep_frame {
    struct ov_buf pub;
    struct ep_slab *slab; /* borrowed; owns the memory */
    bool is_clean;        /* only its first page was ever touched */
};

enum ep_op_state { EP_OP_FREE, EP_OP_WAITING, EP_OP_POSTED };

/* A receive or a send. The context belongs to the provider while it is
 * posted. */
struct ep_op {
    struct fi_context2 ctx; /* must be first: completions name it */
    struct ep_conn *conn;   /* borrowed */
    STAILQ_ENTRY(ep_op) link;
    struct ov_buf *bufs[EP_SEND_SLICES_MAX]; /* one reference to each */
    uint32_t off_bytes[EP_SEND_SLICES_MAX];
    uint32_t len_bytes[EP_SEND_SLICES_MAX];
    uint8_t bufs_count;
    bool is_recv;
    uint8_t state; /* enum ep_op_state */
};
STAILQ_HEAD(ep_ops, ep_op);

enum ep_conn_state {
    EP_CONN_DIALING,   /* on_up or on_down follows */
    EP_CONN_ACCEPTING, /* like DIALING, but on the accepting side */
    EP_CONN_UP,
    EP_CONN_FAILING,  /* a send failed; frames of the peer are still read */
    EP_CONN_LOST,     /* on_down follows when the queue has been read */
    EP_CONN_FLUSHING, /* dropped by the owner; its last frames are being sent */
    EP_CONN_DEAD,     /* the endpoint is to be closed */
    EP_CONN_CLOSED,   /* freed when the queue has been read once more */
    EP_CONN_STATES
};

struct ep_conn {
    struct ep_transport *t;       /* borrowed */
    struct fid_ep *ep;            /* owned; NULL when closed */
    struct ep_cq *cq;             /* borrowed */
    void *user;                   /* borrowed */
    TAILQ_ENTRY(ep_conn) link;    /* entry in t->conns or t->dead */
    TAILQ_ENTRY(ep_conn) touched; /* in t->touched when is_touched */
    struct ep_ops sends_free;
    struct ep_ops sends_waiting; /* sends for which the provider had no room */
    struct ep_ops recvs_waiting; /* receives that are to be posted */
    struct ep_ops recvs_held;    /* received before on_up, with len_bytes[0] */
    union ep_sockaddr peer;      /* address of the peer of an accepted link */
    int64_t since_ms;            /* when the state began */
    int guess_fd;          /* likely the link's descriptor; -1: no guess */
    int flush_fd;          /* the link's socket; -2: not searched, -1: none */
    uint16_t sends;        /* sends that are not completed */
    uint16_t sent;         /* completed sends that are not reported */
    uint8_t injects;       /* sends without completion since a receive */
    uint8_t state;         /* enum ep_conn_state */
    uint8_t why;           /* enum ep_down_why, once LOST */
    uint8_t refusal_bytes; /* length of `refusal` */
    uint8_t refusal[EP_CM_MAX];
    uint16_t recvs; /* how many of ops[] are receives; they come first */
    bool is_accepted;
    bool is_surplus; /* above accepted_full: its receives use clean buffers */
    bool is_up;      /* has been up at some time */
    bool is_touched;
    struct ep_op ops[]; /* receives, then send_slots sends */
};
TAILQ_HEAD(ep_conns, ep_conn);

struct ep_request {
    struct ep_transport *t; /* borrowed */
    struct fi_info *info;   /* owned; NULL when it was not answered in time */
    TAILQ_ENTRY(ep_request) link;
    int64_t since_ms;
};

/* The event queue, which reports new and ended connections. */
struct ep_eq {
    struct fid_eq *fid; /* owned */
    struct event *ready;
    bool is_armed;  /* empty; the descriptor reports when it is not */
    bool is_empty;  /* the queue was read to its end */
    bool has_news;  /* an event or a connection came after `ready` */
    bool is_paused; /* not read: no descriptor is free to accept */
};

/* Decides when the loop runs the next pass (wake.c). */
struct ep_wake {
    struct event *soon; /* a pass after this callback, or at a later time */
    struct event *tick; /* runs the sweep */
    int64_t tick_ms;    /* when the sweep runs; 0: not planned */
    bool is_pushed; /* a pass was made for a kick in this round of the loop */
    bool is_kicked;
};

/* Registered memory, and its free buffers (slab.c). */
struct ep_slabs {
    struct ep_slab *all;  /* owned */
    struct ov_buf *used;  /* free buffers with touched pages */
    struct ov_buf *clean; /* free buffers with only the first page touched */
    uint64_t mr_key;
};

/* Sockets that have proved nothing (stray.c). */
struct ep_strays {
    struct ep_stray *notes; /* owned, by descriptor */
    size_t room;
    size_t count; /* strangers at the last scan, and sockets accepted since */
    int64_t scan_ms; /* when to scan; 0: no scan is due */
};

struct ep_transport {
    struct ep_transport_cfg cfg;
    struct ep_transport_stats stats;
    /* Runs a pass when a queue is ready; set by poll.c. */
    void (*pass)(struct ep_transport *t);
    struct fi_info *info; /* owned; source port 0 */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct ep_eq eq;
    struct fid_pep *pep;
    struct ep_wake wake;
    struct ep_slabs slabs;
    TAILQ_HEAD(, ep_cq) cqs;
    struct ep_conns conns; /* links in all states but DEAD and CLOSED */
    struct ep_conns dead;
    struct ep_conns touched; /* links with something to report or to post */
    TAILQ_HEAD(, ep_request) requests;
    struct ep_strays strays;
    DIR *fds;          /* folder of our descriptors; NULL: not readable */
    int listen_fd;     /* listening socket; -1: the provider has none */
    unsigned full;     /* accepted links that have all their receives */
    unsigned lost;     /* links in state LOST */
    unsigned flushing; /* links in state FLUSHING */
    unsigned reported; /* callbacks made in this round */
    bool is_in_pass;
    /* A short read means that a completion queue is empty. */
    bool has_short_reads;
    bool is_closing;
    bool is_pinned;  /* registered memory is resident, even if not touched */
    bool is_starved; /* a post waits although the provider has no other */
    union ep_sockaddr addr;
    char address[EP_ADDR_MAX];
    char provider[64];
};

#endif
