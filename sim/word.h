/* What nodes report about jobs: words in records of their STATE channel, as
 * real daemons do (job/word.h), in the order in which things happen there.
 *
 * OVER, which says that all jobs with processes there are over, comes in a
 * record of its own.
 */
#ifndef SIM_WORD_H
#define SIM_WORD_H

#include "job/word.h"
#include "sim/state.h"

struct sim_word {
    uint8_t kind;    /* enum job_word_kind */
    uint16_t status; /* EXIT: as from waitpid() */
    uint32_t number; /* of the process; STARTED: the first; OVER: number of
                        jobs */
};

/* Does nothing unless the job has words. Returns 0 or OV_ENOMEM. */
int sim_word_open(struct sim_world *w);
void sim_word_close(struct sim_world *w);

/* A job with processes on node n begins there; it is over there. */
void sim_word_begin(struct sim_world *w, uint32_t n);
void sim_word_end(struct sim_world *w, uint32_t n);

/* Queues a word of node n; the caller makes the input ready. */
void sim_word_push(struct sim_world *w, uint32_t n, struct sim_word word);

/* Writes a record with as many of the waiting words as fit. */
void sim_word_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                   struct ov_read *read);

/* Reads the words of a record one after another: *at_bytes begins at 0. False:
 * there are no more, or the next bytes are no valid word. O(parts of the
 * frame). */
bool sim_word_next(const struct ov_slice *slice, uint32_t *at_bytes,
                   struct sim_word *out);

#endif
