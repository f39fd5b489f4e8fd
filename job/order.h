/* The orders of the launcher to the nodes, in messages on stream 0.
 *
 * The rows of a body are in order.c and, as a table, in docs/protocol.md.
 * Processes are named by their process numbers.
 */
#ifndef JOB_ORDER_H
#define JOB_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "job/schema.h"
#include "overlay/base/wire.h"
#include "overlay/control.h"
#include "topo/tree.h"

/* Messages of the layers above the overlay. */
enum job_control_kind {
    JOB_CONTROL_JOB = OV_CONTROL_APP, /* a piece of a job's description, which
                                         is no order */
    JOB_CONTROL_SIGNAL,               /* send a signal to these processes;
                                         without ranges: to all */
    JOB_CONTROL_KILL,                 /* end every process and all that it
                                         has started */
    JOB_CONTROL_REPLAY,               /* send earlier output: see
                                         job/replay.h */
    JOB_CONTROL_WANT,                 /* which output to send up the tree from
                                         now on */
    JOB_CONTROL_FORGET,  /* drop the kept output of a job that has ended */
    JOB_CONTROL_MACHINE, /* asks these nodes for a MACHINE message */
    JOB_CONTROL_CLOCK,   /* the time of the launcher's clock */
    JOB_CONTROL_LOOK, /* asks the nodes of these processes for DOING messages */
    JOB_CONTROL_KINDS
};

enum {
    JOB_ORDER_RANGES_MAX = 64,
    JOB_ORDER_BYTES_MAX = 8 + 8 * JOB_ORDER_RANGES_MAX,
};

/* Members that a kind does not use are zero. */
struct job_order {
    uint8_t kind;     /* an enum job_control_kind, but not JOB */
    uint8_t channels; /* REPLAY, WANT: bits, 1 << channel each */
    uint16_t ticket;  /* REPLAY, LOOK: copied into the answers */
    uint32_t number;  /* SIGNAL: the signal; FORGET: the job's first process */
    uint32_t bytes;   /* REPLAY: at most this many bytes of each channel */
    uint64_t time_ns; /* CLOCK: when the order was made */
    bool is_last;     /* REPLAY: send the last bytes, not the first */
    /* WANT: with is_wanted, nodes send output of these channels from now on;
     * without, the daemon reads and drops it, and sends only the end of the
     * channel. With is_held_back the output is wanted, but the daemon does not
     * read it yet, so that a process waits when its pipe is full. A channel is
     * wanted, and not held back, until an order says otherwise. */
    bool is_wanted, is_held_back;
    uint32_t ranges_count;
    /* Process numbers; in MACHINE numbers of nodes. At least one range, except
     * in a SIGNAL. */
    struct topo_range ranges[JOB_ORDER_RANGES_MAX];
};

/* Writes the body, at most JOB_ORDER_BYTES_MAX bytes. */
void job_order_encode(struct ov_wr *wr, const struct job_order *order);
/* Returns 0, or OV_EPROTO when the bytes are no valid order. */
int job_order_decode(uint8_t kind, struct ov_rd body, struct job_order *order);
/* The rows of the body of this kind. */
const struct job_schema_row *job_order_rows(unsigned kind);

/* True when the process or node with this number is in one of the ranges.
 * O(ranges). */
bool job_order_has(const struct job_order *order, uint32_t number);

#endif
