/* What the launcher tells the nodes to do, in messages on stream 0.
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
    JOB_CONTROL_JOB = OV_CONTROL_APP, /* a piece of a job's text; not an
                                         order */
    JOB_CONTROL_SIGNAL,               /* to these processes; without ranges:
                                         to all */
    JOB_CONTROL_KILL,                 /* end every process and all that it
                                         has started */
    JOB_CONTROL_REPLAY,               /* send output from before: see
                                         job/replay.h */
    JOB_CONTROL_WANT,                 /* which output is to travel from now
                                         on */
    JOB_CONTROL_FORGET,  /* the kept output of a job that is over is not
                            needed */
    JOB_CONTROL_MACHINE, /* these nodes are to send their MACHINE */
    JOB_CONTROL_KINDS
};

enum {
    JOB_ORDER_RANGES_MAX = 64,
    JOB_ORDER_BYTES_MAX = 8 + 8 * JOB_ORDER_RANGES_MAX,
};

/* Members that a kind does not use are zero. */
struct job_order {
    uint8_t kind;     /* enum job_control_kind, except JOB */
    uint8_t channels; /* REPLAY, WANT: bits, 1 << channel each */
    uint16_t ticket;  /* REPLAY: copied into the answers */
    uint32_t number;  /* SIGNAL: the signal; FORGET: the job's first process */
    uint32_t bytes;   /* REPLAY: most bytes of each channel */
    bool is_last;     /* REPLAY: the last bytes are wanted, not the first */
    /* WANT: is_wanted: output of these channels travels from now on; else it is
     * read and dropped where it was written, and only its end travels.
     * is_held_back: it is wanted but not read yet, so that a process that
     * writes more than fits its pipe waits. A channel is wanted, and not held
     * back, until an order says otherwise. */
    bool is_wanted, is_held_back;
    uint32_t ranges_count;
    /* Numbers of processes; MACHINE: of nodes. At least one range, except in a
     * SIGNAL. */
    struct topo_range ranges[JOB_ORDER_RANGES_MAX];
};

/* Writes the body, at most JOB_ORDER_BYTES_MAX bytes. */
void job_order_encode(struct ov_wr *wr, const struct job_order *order);
/* Returns 0, or OV_EPROTO when the bytes are no valid order. */
int job_order_decode(uint8_t kind, struct ov_rd body, struct job_order *order);
/* The rows of the body of this kind. */
const struct job_schema_row *job_order_rows(unsigned kind);

/* True when the number, of a process or a node, is in one of the ranges.
 * O(ranges). */
bool job_order_has(const struct job_order *order, uint32_t number);

#endif
