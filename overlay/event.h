/* Events, which tell a node what happened, and actions, which a node wants
 * done.
 *
 * A driver calls ov_node_step() with events in the order of time, one by one,
 * and carries out all actions, in order, before the next step.
 *
 * Links are named by slots that the driver picks with ov_node_free_link() when
 * a connection comes up; a slot belongs to its connection until the driver has
 * given the node OV_EV_LINK_DOWN or the node has returned OV_ACT_CLOSE. Where a
 * kind has a list of fields, the driver or the node sets only these fields of
 * the event or action.
 */
#ifndef OVERLAY_EVENT_H
#define OVERLAY_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "overlay/wire/frame.h"

enum ov_event_kind {
    /* the node may begin: all but the root now dial. buf: the address where
     * this node listens, in the driver's encoding, to be sent to its parents;
     * NULL, or at most OV_ADDRESS_MAX bytes */
    OV_EV_START,
    OV_EV_LINK_UP,     /* link, node, dialled: a connection came up; the node at
                          its other end has proved the session key */
    OV_EV_LINK_DOWN,   /* link */
    OV_EV_DIAL_FAILED, /* node: the dial of it has failed */
    /* node, link, seq, is_refused: the answer to OV_ACT_PROBE. When the dial
     * was refused, buf has the address where the node listened, in the driver's
     * encoding, and one reference passes to the node; NULL when the address is
     * unknown */
    OV_EV_PROBED,
    OV_EV_FRAME,    /* link, buf: a frame was received; one reference to the
                       buffer passes to the node */
    OV_EV_SENT,     /* link, count: the transport is done with this many
                       frames, the oldest first */
    OV_EV_TIMER,    /* the wake-up for which the node asked (out->wake_ns);
                       may come early, late or twice */
    OV_EV_READY,    /* input: there is something to read at it */
    OV_EV_READ,     /* input, read: the driver's answer to OV_ACT_READ */
    OV_EV_DOWN,     /* root: stream, buf, len_bytes, flags: payload to send
                       down a stream; see struct ov_event */
    OV_EV_CONSUMED, /* stream, seq, rank: this node's processes have consumed
                       all frames before seq; rank is the process that is
                       furthest behind */
    OV_EV_TAKEN,    /* root: cookie: the sink has taken the record with this
                       cookie */
    OV_EV_PAUSE,    /* root: is_paused: the root's process is about to be
                       stopped (true), or runs again (false). While it is
                       stopped the children do not judge its silence */
    OV_EV_KINDS
};

enum { OV_ADDRESS_MAX = 128 };

/* Whether an input has more to read, after a read. */
enum ov_input_state {
    OV_INPUT_IDLE, /* nothing to read now: OV_EV_READY follows when there is */
    OV_INPUT_MORE, /* there is more: the node should read again */
    OV_INPUT_END,  /* the input has ended */
};

struct ov_read {
    struct ov_buf *buf; /* one reference passes to the node; NULL when no bytes
                           were read */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint32_t rank;
    uint16_t job;
    uint8_t channel; /* enum ov_channel */
    uint8_t flags;   /* enum ov_record_flag; a record with flags may be empty */
    uint8_t state;   /* enum ov_input_state */
    uint32_t records_max; /* as in OV_ACT_READ */
};

/* OV_EV_DOWN: the payload is in buf, from the offset OV_DOWN_HEAD_BYTES on; the
 * node writes the head before it. One reference to buf passes to the node.
 * Allowed while ov_node_down_room() of the stream is above 0. */
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
    bool dialled;    /* OV_EV_LINK_UP: this node dialled, so the peer is a
                        parent */
    bool is_paused;  /* OV_EV_PAUSE: the root is about to be stopped */
    bool is_refused; /* OV_EV_PROBED: the dial was refused */
    bool follows;    /* the driver gives the node further events at once: the
                        node sends only after the last of them */
    struct ov_buf *buf;
    struct ov_read read;
};

enum ov_act_kind {
    OV_ACT_DIAL,  /* node, attach: connect to this node */
    OV_ACT_CLOSE, /* link: end it after all frames given to it were sent; no
                     OV_EV_LINK_DOWN follows */
    OV_ACT_SEND,  /* link, head, slices: send one frame */
    /* input, max_bytes, records_max: read at most this much and answer by
     * OV_EV_READ, with the same records_max. The node cuts what was read into
     * records, records_max at most (overlay/cut.h) */
    OV_ACT_READ,
    OV_ACT_CONSUME, /* stream, seq, flags, slice: a frame for this node's own
                       processes */
    OV_ACT_RECORD,  /* root: rec, slice, cookie: a record for the sinks */
    OV_ACT_JOINED,  /* root: every planned node has joined or was given up */
    /* node: a former child whose link closed, a node beneath it, or one that a
     * neighbour asks about. The driver dials its address only to see whether
     * the dial is refused. link, seq: identify the node that asked; the driver
     * repeats them in OV_EV_PROBED; seq is 0 when this node itself asked */
    OV_ACT_PROBE,
    OV_ACT_ADDRESS, /* node, slice: the address where this child, or a child of
                       a child, listens */
    OV_ACT_ORPHAN,  /* node: the parent that was lost; the node now dials its
                       other ancestors */
    OV_ACT_ADOPTED, /* node: the parent that has adopted this node */
    OV_ACT_LOST,    /* root: node: the root has declared it lost, which is
                       final */
    OV_ACT_END,     /* flags (enum ov_end): this node must kill its processes
                       and end; the job goes on without it */
    OV_ACT_STALL,   /* root: stream, node, rank: a full window has waited for
                       this process for the stall time */
    OV_ACT_LEAVE,   /* this node may end: it and all nodes beneath it have
                       consumed the goodbye */
    OV_ACT_KINDS
};

/* Why a node must kill its processes and end. */
enum ov_end {
    OV_END_ALONE = 1, /* no parent was found within the give-up time */
    OV_END_DECLARED,  /* the root has declared this node lost */
};

/* Part of a buffer. One reference to the buffer passes to the driver. */
struct ov_slice {
    struct ov_buf *buf;
    uint32_t off_bytes;
    uint32_t len_bytes;
};

struct ov_act {
    enum ov_act_kind kind;
    uint16_t link;
    uint16_t input;
    uint16_t slices;     /* how many slices, from out->slice[slice_first] on */
    uint16_t head_bytes; /* how many bytes at out->head[head_first] are sent
                            before the slices */
    uint32_t slice_first;
    uint32_t head_first;
    uint32_t node;
    uint32_t stream;
    uint32_t rank;
    uint32_t max_bytes;
    uint32_t records_max;
    uint32_t flags;
    uint32_t cookie;
    uint64_t seq;
    uint64_t attach;
    struct ov_record rec;
};

#endif
