/* The transport: links over a fabric, called through a table of functions.
 *
 * One implementation exists (endpoints/ofi, libfabric FI_EP_MSG). It is built
 * as a module and opened at run time, because loading libfabric costs a process
 * 0.3 s and its libraries take signal handlers. Where configure finds
 * libfabric's static library, the programs also contain it with only the
 * provider tcp, which costs nothing to start.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 * Callbacks are made from the event loop only, never from within a call; they
 * may call back into the transport, except for close(). Frames of one link
 * arrive in the order in which they were sent, and those that a peer sent
 * before it closed arrive before on_down. A link keeps `posted_receives`
 * receives posted from its first moment to its last, whatever the peer sends;
 * the protocol's windows, not the transport, bound how many received buffers
 * are held.
 */
#ifndef ENDPOINTS_FABRIC_TRANSPORT_H
#define ENDPOINTS_FABRIC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/sys/why.h"
#include "overlay/base/buf.h"

struct event_base;
struct ep_transport;
struct ep_conn;
struct ep_request;
enum {
    EP_CM_MAX = 48,   /* most private data of a connect, accept or reject */
    EP_ADDR_MAX = 72, /* length of a listening address as text, with its NUL */
    EP_SEND_SLICES_MAX = 3 /* every provider can gather this many in one send */
};

/* A part of a buffer. */
struct ep_slice {
    struct ov_buf *buf; /* borrowed; the transport takes its own reference */
    uint32_t off_bytes;
    uint32_t len_bytes;
};

enum ep_down_why {
    EP_DOWN_CLOSED,  /* the peer has closed or died */
    EP_DOWN_REFUSED, /* the listener rejected the dial */
    EP_DOWN_NOBODY,  /* the system refused the dial: nothing listens there */
    EP_DOWN_ERROR /* the fabric reported an error, or the link took too long */
};

struct ep_transport_events {
    /* A peer asks for a link; cm is the private data of its request, valid
     * during the call. Answer exactly once, now or later, with accept() or
     * reject(). Without an answer within unproved_ms the peer is refused;
     * accept() then returns OV_ECLOSED. */
    void (*on_request)(void *arg, struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes);
    /* The link is up. On the dialling side cm is the acceptor's private data;
     * on the accepting side len_bytes is 0. A receiver that has not proved the
     * peer must drop the link and must not use it. */
    void (*on_up)(void *arg, struct ep_conn *conn, const uint8_t *cm,
                  size_t len_bytes);
    /* Called before on_down() with EP_DOWN_REFUSED, when the reject() had
     * private data; cm is valid during the call. May be NULL. The callee must
     * prove cm before it acts on it. */
    void (*on_refused)(void *arg, struct ep_conn *conn, const uint8_t *cm,
                       size_t len_bytes);
    /* The link has ended; conn is freed after the call. Sends that are not
     * complete are dropped with their references. Not called after drop(). */
    void (*on_down)(void *arg, struct ep_conn *conn, enum ep_down_why why);
    /* A frame arrived: buf->len_bytes bytes. The callee owns one reference. */
    void (*on_frame)(void *arg, struct ep_conn *conn, struct ov_buf *buf);
    /* Called when this many sends of the link are complete; their buffers may
     * be used again. */
    void (*on_sent)(void *arg, struct ep_conn *conn, unsigned frames);
    /* Several callbacks have been made, and for now none follows: a good moment
     * to step the core once more or to flush what was gathered. May be NULL. */
    void (*on_idle)(void *arg);
};

struct ep_transport_cfg {
    struct event_base *base; /* borrowed, outlives the transport */
    /* NULL: the first provider in FI_PROVIDER that works; without that variable
     * verbs if there is a device for it, else tcp. */
    const char *provider;
    /* An interface's name, a numeric address, or a network like 10.1.0.0/16;
     * NULL: any. */
    const char *interface;
    bool is_local;       /* `interface` NULL means loopback */
    uint16_t port_first; /* ports to try for listening; 0, 0: any free one */
    uint16_t port_last;
    uint32_t frame_bytes;     /* size of every buffer */
    uint16_t posted_receives; /* number for each link, at least 2 */
    /* How many accepted links have all their receives; further ones have 2. 0:
     * no limit. */
    uint32_t accepted_full;
    uint16_t send_slots; /* most sends in flight per link */
    /* A connection that is silent, a request that is not answered and an
     * accepted link that does not come up are ended after this time; 0:
     * 5000. */
    uint32_t unproved_ms;
    const struct ep_transport_events *events; /* borrowed */
    void *arg;
};

struct ep_transport_stats {
    uint64_t sent_frames, sent_bytes;
    uint64_t received_frames, received_bytes;
    uint64_t rejected;     /* requests answered with reject() */
    uint64_t silent_shut;  /* sockets shut because their peers proved nothing */
    uint64_t buffers_live; /* buffers in use */
    uint64_t buffers_made; /* buffers registered so far */
    /* Dropped links whose last frames are still being sent. */
    unsigned flushing;
};

struct ep_transport_ops {
    /* Opens fabric, domain, listener and buffer pool. Returns 0, OV_EINVAL (no
     * such provider or interface, no free port in the range), OV_EFABRIC or
     * OV_ENOMEM; `why` (EP_WHY_MAX bytes) then says what is wrong and what to
     * do. */
    int (*open)(const struct ep_transport_cfg *cfg, struct ep_transport **out,
                char *why);
    /* Drops every link without callbacks and frees everything. Links that were
     * dropped with `flush` and still have frames to send delay it, by a second
     * at most. The caller must have returned all buffers. Must not be called in
     * a callback. */
    void (*close)(struct ep_transport *t);

    /* The first returns the name of the provider in use; the second returns the
     * listener's address as text, for dial() of another process (for example
     * "10.1.2.3:4567", "[fe80::1]:4567"). */
    const char *(*provider)(const struct ep_transport *t);
    const char *(*address)(const struct ep_transport *t);

    /* Starts to connect. on_up or on_down follows; the owner limits the time
     * until then. `user` is the link's user pointer. Returns 0, OV_EINVAL (bad
     * address or one of another family than the listener's, len_bytes over
     * EP_CM_MAX), OV_EFABRIC or OV_ENOMEM. */
    int (*dial)(struct ep_transport *t, const char *address, const uint8_t *cm,
                size_t len_bytes, void *user, struct ep_conn **out);
    /* accept() accepts the request: on_up or on_down follows. Returns what
     * dial() returns, or OV_ECLOSED when the answer comes too late. reject()
     * refuses the request, and the peer gets EP_DOWN_REFUSED; with more than
     * EP_CM_MAX bytes it sends no private data. The request must not be used
     * afterwards, except after OV_EINVAL. */
    int (*accept)(struct ep_request *req, const uint8_t *cm, size_t len_bytes,
                  void *user, struct ep_conn **out);
    void (*reject)(struct ep_request *req, const uint8_t *cm, size_t len_bytes);

    void *(*user)(const struct ep_conn *conn);

    /* Sends the slices, in order, as one frame, from buffers of this transport.
     * At most send_slots sends of a link may be in flight: another one is
     * refused with OV_EFULL. The total is 1 to frame_bytes. When the provider
     * is full for the moment, or the link is not up yet, the transport keeps
     * the send and retries by itself. Returns 0, OV_EFULL, OV_EINVAL, or
     * OV_ECLOSED after a loss that on_down will report. */
    int (*send)(struct ep_conn *conn, const struct ep_slice *slices,
                unsigned count);
    /* Ends the link: with `flush` when the frames already sent have arrived at
     * the peer's system (or after 5 s), otherwise at once. Frames that the
     * peer still sends are thrown away. No callback follows; conn must not be
     * used any longer. */
    void (*drop)(struct ep_conn *conn, bool flush);

    /* The first gives a free registered buffer with one reference and len_bytes
     * 0, or NULL when memory is out. The second takes back a buffer whose last
     * reference was dropped. */
    struct ov_buf *(*buf_get)(struct ep_transport *t);
    void (*buf_put)(struct ep_transport *t, struct ov_buf *buf);

    void (*stats)(const struct ep_transport *t, struct ep_transport_stats *out);
};

/* The folder that lists devices for verbs. */
#define EP_TRANSPORT_DEVICES "/sys/class/infiniband"

/* The only symbol that the module exports. */
#define EP_TRANSPORT_SYMBOL "ep_transport_ofi_ops"
extern const struct ep_transport_ops ep_transport_ofi_ops
    __attribute__((visibility("default")));

/* Offers a transport that is linked into the program and has only the provider
 * tcp; it is used when the module would choose tcp. Borrows `ops` for ever. */
void ep_transport_offer_tcp(const struct ep_transport_ops *ops);

/* Finds the functions of the transport for this provider (as in
 * ep_transport_cfg): the offered ones, else those of the module, which is
 * opened once per process. Returns 0, or OV_ENOENT with `why` filled when the
 * module or libfabric is not installed. The module is searched beside the
 * running program, in its build tree, then in the package's library folder;
 * when XYLEM_MODULE_DIR is set, only in that folder. */
int ep_transport_load(const char *provider, const struct ep_transport_ops **out,
                      char *why);

#endif
