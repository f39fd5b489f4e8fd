/* Output from before, for somebody who comes late: the order on stream 0, and
 * what a node answers.
 *
 *     order   ticket 2, channels 1, flags 1, bytes 4, then ranges of process
 *             numbers, first 4 and last 4 each
 *     answer  flags 4, dropped 8, then bytes of the channel
 *     heard   flags 4, processes 8
 *
 * Channels are bits, 1 << channel each; flag 1 of the order asks for the last
 * bytes of each channel instead of the first. An answer is the payload of an UP
 * record of that process and channel whose field `job` is the ticket, which is
 * not 0. There are as many as it takes; the last of a channel has flag 1, and
 * stands in the order of the node's records where what it had read of the
 * channel before ends. `dropped` is bytes that are missing just before those of
 * the record.
 *
 * Before all answers to an order the node says that it has heard of it, with
 * flag 2: what these processes, of which the record's is the first, write from
 * then on stands behind the answers.
 */
#ifndef JOB_REPLAY_H
#define JOB_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum {
    JOB_REPLAY_HEAD_BYTES = 12, /* of an answer */
    JOB_REPLAY_RANGES_MAX = 64, /* of one order */
    JOB_REPLAY_ORDER_BYTES = 8 + 8 * JOB_REPLAY_RANGES_MAX,
};

struct job_replay_order {
    uint16_t ticket;
    uint8_t channels;
    bool is_last;
    uint32_t bytes;
    struct ov_rd ranges; /* to be written: none, the caller adds them */
};

struct job_replay_answer {
    bool is_heard; /* the node has the order, and this is not an answer yet */
    bool is_turn;
    uint64_t heard; /* so many processes' node has it */
    uint64_t dropped_bytes;
    struct ov_rd bytes; /* to be written: none, the caller adds them */
};

void job_replay_order_encode(struct ov_wr *wr,
                             const struct job_replay_order *order);
/* Returns 0, or OV_EPROTO when something is missing, no range is there, or more
 * than there may be. */
int job_replay_order_decode(struct ov_rd body, struct job_replay_order *out);

void job_replay_answer_encode(struct ov_wr *wr,
                              const struct job_replay_answer *answer);
/* Returns 0, or OV_EPROTO: also for one that has heard of it for nobody, or
 * with bytes. */
int job_replay_answer_decode(struct ov_rd body, struct job_replay_answer *out);

#endif
