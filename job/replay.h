/* Output from before, for somebody who comes late: what a node answers to a
 * REPLAY of job/order.h.
 *
 *     answer  flags 4, dropped 8, then bytes of the channel
 *     heard   flags 4, processes 8
 *
 * An answer is the payload of an UP record of a process and channel that were
 * asked for whose field `job` is the order's ticket, which is not 0. There are
 * as many as it takes; the last of a channel has flag 1, and stands in the
 * order of the node's records where what it had read of the channel before
 * ends. `dropped` is bytes that are missing just before those of the record.
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
#include "topo/tree.h"

/* What is asked for: of each channel of these processes that is named, its
 * first bytes or its last. */
struct job_replay_wish {
    const struct topo_range *ranges; /* borrowed; ascending, apart */
    uint32_t count;
    uint8_t channels; /* bits, 1 << channel each */
    bool is_last;
    uint32_t bytes; /* of each channel at most */
};

enum {
    JOB_REPLAY_HEAD_BYTES = 12, /* of an answer */
};

struct job_replay_answer {
    bool is_heard; /* the node has the order, and this is not an answer yet */
    bool is_turn;
    uint64_t heard; /* so many processes' node has it */
    uint64_t dropped_bytes;
    struct ov_rd bytes; /* to be written: none, the caller adds them */
};

void job_replay_answer_encode(struct ov_wr *wr,
                              const struct job_replay_answer *answer);
/* Returns 0, or OV_EPROTO: also for one that has heard of it for nobody, or
 * with bytes. */
int job_replay_answer_decode(struct ov_rd body, struct job_replay_answer *out);

#endif
