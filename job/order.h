/* What the launcher tells the nodes to do, in messages on stream 0.
 *
 * The rows of a body are in order.c and, as a table, in docs/protocol.md.
 * Processes are told by their process numbers.
 */
#ifndef JOB_ORDER_H
#define JOB_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "job/schema.h"
#include "overlay/base/wire.h"
#include "overlay/control.h"
#include "topo/tree.h"

/* Messages of the driver. */
enum job_control_kind {
    JOB_CONTROL_JOB = OV_CONTROL_APP, /* a piece of a job's text; no order */
    JOB_CONTROL_SIGNAL,               /* to these processes; no range: to all */
    JOB_CONTROL_KILL,                 /* end every process and all it started */
    JOB_CONTROL_REPLAY,               /* output from before: job/replay.h */
    JOB_CONTROL_WANT,                 /* who is heard from now on */
    JOB_CONTROL_FORGET,  /* output of a job that is over is not kept on */
    JOB_CONTROL_MACHINE, /* these nodes are to say their MACHINE */
    JOB_CONTROL_KINDS
};

enum {
    JOB_ORDER_RANGES_MAX = 64,
    JOB_ORDER_BYTES_MAX = 8 + 8 * JOB_ORDER_RANGES_MAX,
};

/* Zero is what a kind does not say. */
struct job_order {
    uint8_t kind;     /* enum job_control_kind, but JOB */
    uint8_t channels; /* REPLAY, WANT: bits, 1 << channel each */
    uint16_t ticket;  /* REPLAY: of the answers */
    uint32_t number;  /* SIGNAL: the signal; FORGET: the job's first process */
    uint32_t bytes;   /* REPLAY: of each channel, at most */
    bool is_last;     /* REPLAY: the last bytes, not the first */
    /* WANT: what comes of these channels travels from now on, else it is read
     * and dropped where it was written, and only the end travels. What is held
     * back is wanted, but not read, so that who writes more than a pipe takes
     * waits. A channel is wanted, and not held back, until an order says
     * otherwise. */
    bool is_wanted, is_held_back;
    uint32_t ranges_count;
    /* Of processes; MACHINE: of nodes. All but a SIGNAL have one at least. */
    struct topo_range ranges[JOB_ORDER_RANGES_MAX];
};

/* Writes the body, of JOB_ORDER_BYTES_MAX bytes at most. */
void job_order_encode(struct ov_wr *wr, const struct job_order *order);
/* Returns 0, or OV_EPROTO when it is no such order. */
int job_order_decode(uint8_t kind, struct ov_rd body, struct job_order *order);
/* The rows of its body. */
const struct job_schema_row *job_order_rows(unsigned kind);

/* Is the number, of a process or a node, in one of its ranges? O(ranges). */
bool job_order_has(const struct job_order *order, uint32_t number);

#endif
