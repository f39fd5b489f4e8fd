/* The answers of a node to the order REPLAY (job/order.h), with earlier output
 * for a client that comes late.
 *
 *     answer  flags 4, dropped 8, then bytes of the channel
 *     heard   flags 4, processes 8
 *
 * An answer is the payload of an UP record of a requested process and channel;
 * the field `job` of the record is the ticket of the order, which is not 0.
 * There are as many answers as needed. The last answer for a channel has flag
 * 1: everything that the node has read of the channel up to then is in the
 * answers, and all later output follows as new records. `dropped` is how many
 * bytes are missing just before the bytes of the answer.
 *
 * Before all answers to an order the node confirms the order, by a record with
 * flag 2. It is about `processes` processes, beginning with the process of the
 * record: their new output is sent from now on, and comes after the answers.
 */
#ifndef JOB_REPLAY_H
#define JOB_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"
#include "topo/tree.h"

/* A request for the first or the last bytes of channels of these processes. */
struct job_replay_wish {
    const struct topo_range *ranges; /* borrowed; ascending, not touching */
    uint32_t count;
    uint8_t channels; /* bits, 1 << channel each */
    bool is_last;
    uint32_t bytes; /* the most bytes to send of each channel */
};

enum {
    JOB_REPLAY_HEAD_BYTES = 12, /* size of the fields before the bytes of an
                                   answer */
};

struct job_replay_answer {
    bool is_heard; /* the record confirms the order and holds no output */
    bool is_turn;
    uint64_t heard; /* how many processes the confirmation is for */
    uint64_t dropped_bytes;
    struct ov_rd bytes; /* empty for encoding: the caller appends the bytes
                           itself */
};

void job_replay_answer_encode(struct ov_wr *wr,
                              const struct job_replay_answer *answer);
/* Returns 0, or OV_EPROTO; also for a confirmation that is for no process, or
 * has bytes. */
int job_replay_answer_decode(struct ov_rd body, struct job_replay_answer *out);

#endif
