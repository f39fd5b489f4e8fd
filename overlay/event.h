/* What happens to a node, and what it wants done.
 *
 * A driver calls ov_node_step() with one event, in the order of time, and
 * carries out all actions, in order, before the next step.
 *
 * Links are named by slots that the driver picks with
 * ov_node_free_link() when a connection comes up; a slot belongs to that
 * connection until the driver has told LINK_DOWN or the node asked CLOSE.
 */
#ifndef OVERLAY_EVENT_H
#define OVERLAY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "overlay/wire/frame.h"

enum ov_event_kind {
    OV_EV_START,       /* the node may begin: non-roots dial; buf: where this
                          node listens, in the driver's own words, for its
                          parents; NULL or OV_ADDRESS_MAX bytes at most */
    OV_EV_LINK_UP,     /* link, node (the proved peer), dialled */
    OV_EV_LINK_DOWN,   /* link */
    OV_EV_DIAL_FAILED, /* node */
    OV_EV_PROBED,      /* node, link, seq, is_refused: the answer to
                          OV_ACT_PROBE; refused, buf: where the node listened,
                          as its driver says it. One reference passes; NULL:
                          not known */
    OV_EV_FRAME,       /* link, buf: one reference passes to the node */
    OV_EV_SENT,        /* link, count: the transport is done with frames */
    OV_EV_TIMER,       /* the wake-up asked for; early, late or twice is fine */
    OV_EV_READY,       /* input: has something to read */
    OV_EV_READ,        /* input, read: the answer to OV_ACT_READ */
    OV_EV_DOWN,        /* root: stream, buf, len_bytes, flags; see below */
    OV_EV_CONSUMED,    /* stream, seq: frames consumed here, rank who is last */
    OV_EV_TAKEN,       /* root: cookie of a record its sink has for good */
    OV_EV_PAUSE,       /* root: is_paused: its process will be stopped, or runs
                          again; children take silence for no loss meanwhile */
    OV_EV_KINDS
};

enum { OV_ADDRESS_MAX = 128 };

/* What became of an input by a read. */
enum ov_input_state {
    OV_INPUT_IDLE, /* nothing more: READY comes again */
    OV_INPUT_MORE, /* read again */
    OV_INPUT_END,  /* nothing ever again */
};

struct ov_read {
    struct ov_buf *buf; /* owned: one reference passes; NULL when no bytes */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t rank;
    uint16_t job;
    uint8_t channel; /* enum ov_channel */
    uint8_t flags;   /* enum ov_record_flag; makes a record of no bytes too */
    uint8_t state;   /* enum ov_input_state */
};

/* OV_EV_DOWN: buf carries payload from OV_DOWN_HEAD_BYTES on; the node writes
 * the head before it. One reference passes. Legal while
 * ov_node_down_room(stream) > 0.
 */
struct ov_event {
    uint64_t now_ns;
    enum ov_event_kind kind;
    uint16_t link;
    uint16_t input;
    uint32_t node;
    uint32_t stream;
    uint32_t rank;
    uint32_t count;
    uint32_t len_bytes;
    uint32_t flags; /* enum ov_down_flag */
    uint32_t cookie;
    uint64_t seq;
    bool dialled;    /* LINK_UP: we dialled (to a parent) */
    bool is_paused;  /* PAUSE */
    bool is_refused; /* PROBED: nobody listens there any more */
    bool follows;    /* more comes at once: what is to be sent waits for that */
    struct ov_buf *buf;
    struct ov_read read;
};

enum ov_act_kind {
    OV_ACT_DIAL,    /* node, attach: connect to it */
    OV_ACT_CLOSE,   /* link: end it after what was sent; no LINK_DOWN comes */
    OV_ACT_SEND,    /* link, head, slices: one frame */
    OV_ACT_READ,    /* input, max_bytes: read and answer by OV_EV_READ */
    OV_ACT_CONSUME, /* stream, seq, flags, slice: for this node's targets */
    OV_ACT_RECORD,  /* root: rec, slice, cookie: for the sinks */
    OV_ACT_JOINED,  /* root: every planned node has joined */
    OV_ACT_PROBE,   /* node, a former child whose link closed, or one beneath,
                       or one that a neighbour asks about: dial its address only
                       to see whether that is refused. link, seq: who asks for
                       it, come back with the answer; seq 0: we do */
    OV_ACT_ADDRESS, /* node, slice: where this child, or child of a child,
                       listens */
    OV_ACT_ORPHAN,  /* node: our parent is gone, others are dialled */
    OV_ACT_ADOPTED, /* node: our parent from now on */
    OV_ACT_LOST,    /* root: node is declared lost, for ever */
    OV_ACT_END,     /* flags, enum ov_end: the job goes on without us */
    OV_ACT_STALL,   /* root: stream, node, rank hold everybody up */
    OV_ACT_LEAVE,   /* goodbye has passed: nothing is left to do */
    OV_ACT_KINDS
};

/* Why a node is to kill its processes and go. */
enum ov_end {
    OV_END_ALONE = 1, /* no parent was found within the give-up time */
    OV_END_DECLARED,  /* the root has declared this node lost */
};

/* Part of a buffer; one reference passes to the driver. */
struct ov_slice {
    struct ov_buf *buf;
    uint32_t off_bytes;
    uint32_t len_bytes;
};

struct ov_act {
    enum ov_act_kind kind;
    uint16_t link;
    uint16_t input;
    uint16_t slices;     /* count, from out->slices[slice_first] */
    uint16_t head_bytes; /* bytes at out->head[head_first], before slices */
    uint32_t slice_first;
    uint32_t head_first;
    uint32_t node;
    uint32_t stream;
    uint32_t rank;
    uint32_t max_bytes;
    uint32_t flags;
    uint32_t cookie;
    uint64_t seq;
    uint64_t attach;
    struct ov_record rec;
};

#endif
