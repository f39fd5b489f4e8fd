/* Events, which tell a node what happened, and actions, which a node wants
 * done.
 *
 * A driver calls ov_node_step() with events in the order of time, one by one,
 * and carries out all actions, in order, before the next step.
 *
 * Links are named by slots that the driver picks with ov_node_free_link() when
 * a connection comes up; a slot belongs to that connection until the driver has
 * told LINK_DOWN or the node asked CLOSE.
 */
#ifndef OVERLAY_EVENT_H
#define OVERLAY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "overlay/wire/frame.h"

enum ov_event_kind {
    OV_EV_START,       /* the node may begin: all but the root dial. buf:
                          where this node listens, in the driver's encoding,
                          for its parents; NULL, or at most OV_ADDRESS_MAX
                          bytes */
    OV_EV_LINK_UP,     /* link, node (the proved peer), dialled */
    OV_EV_LINK_DOWN,   /* link */
    OV_EV_DIAL_FAILED, /* node */
    OV_EV_PROBED,      /* node, link, seq, is_refused: the answer to
                          OV_ACT_PROBE. When refused, buf: where the node
                          listened, in the driver's encoding. One reference
                          passes; NULL: unknown */
    OV_EV_FRAME,       /* link, buf: one reference passes to the node */
    OV_EV_SENT,        /* link, count: the transport is done with frames */
    OV_EV_TIMER,       /* the wake-up that was asked for; may come early,
                          late or twice */
    OV_EV_READY,       /* input: it has something to read */
    OV_EV_READ,        /* input, read: the answer to OV_ACT_READ */
    OV_EV_DOWN,        /* root: stream, buf, len_bytes, flags; see below */
    OV_EV_CONSUMED,    /* stream, seq: frames consumed here; rank: the
                          process that is last */
    OV_EV_TAKEN,       /* root: cookie of a record that its sink has taken */
    OV_EV_PAUSE,       /* root: is_paused: its process will be stopped, or
                          runs again; meanwhile children do not take its
                          silence for a loss */
    OV_EV_KINDS
};

enum { OV_ADDRESS_MAX = 128 };

/* The state of an input after a read. */
enum ov_input_state {
    OV_INPUT_IDLE, /* nothing to read now: READY will follow */
    OV_INPUT_MORE, /* there is more: read again */
    OV_INPUT_END,  /* the input has ended */
};

struct ov_read {
    struct ov_buf *buf; /* owned: one reference passes; NULL without bytes */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t rank;
    uint16_t job;
    uint8_t channel; /* enum ov_channel */
    uint8_t flags;   /* enum ov_record_flag; with flags a record may be empty */
    uint8_t state;   /* enum ov_input_state */
};

/* OV_EV_DOWN: the payload is in buf from OV_DOWN_HEAD_BYTES on; the node writes
 * the head before it. One reference passes. Allowed while
 * ov_node_down_room(stream) > 0. */
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
    bool dialled;    /* LINK_UP: this node dialled (a parent) */
    bool is_paused;  /* PAUSE */
    bool is_refused; /* PROBED: nobody listens at the address */
    bool follows;    /* more events follow at once: sending waits for them */
    struct ov_buf *buf;
    struct ov_read read;
};

enum ov_act_kind {
    OV_ACT_DIAL,    /* node, attach: connect to it */
    OV_ACT_CLOSE,   /* link: end it after what was sent; no LINK_DOWN follows */
    OV_ACT_SEND,    /* link, head, slices: one frame */
    OV_ACT_READ,    /* input, max_bytes: read and answer by OV_EV_READ */
    OV_ACT_CONSUME, /* stream, seq, flags, slice: for this node's targets */
    OV_ACT_RECORD,  /* root: rec, slice, cookie: for the sinks */
    OV_ACT_JOINED,  /* root: every planned node has joined */
    OV_ACT_PROBE,   /* node: a former child whose link closed, a node beneath
                       it, or one that a neighbour asks about. Dial its
                       address only to see whether that is refused. link,
                       seq: identify who asked, and come back with the
                       answer; seq 0: this node */
    OV_ACT_ADDRESS, /* node, slice: where this child, or a child of a child,
                       listens */
    OV_ACT_ORPHAN,  /* node: the parent that was lost; others are dialled */
    OV_ACT_ADOPTED, /* node: the new parent */
    OV_ACT_LOST,    /* root: node is declared lost, which is final */
    OV_ACT_END,     /* flags, enum ov_end: the job goes on without this node */
    OV_ACT_STALL,   /* root: stream, node, rank: who holds everybody up */
    OV_ACT_LEAVE,   /* goodbye has passed: nothing is left to do */
    OV_ACT_KINDS
};

/* Why a node must kill its processes and end. */
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
