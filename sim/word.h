/* What nodes report about jobs. The reports are called words, as those of real
 * daemons (job/word.h); they are in records of the node's STATE channel, in the
 * order in which things happen at the node.
 *
 * The word OVER, which reports that all jobs with processes on the node are
 * over, has a record of its own.
 */
#ifndef SIM_WORD_H
#define SIM_WORD_H

#include "job/word.h"
#include "sim/state.h"

struct sim_word {
    uint8_t kind;    /* enum job_word_kind */
    uint16_t status; /* EXIT: a status as of waitpid() */
    uint32_t number; /* number of the process (STARTED: of the first one); OVER:
                        number of jobs */
};

/* Does nothing unless cfg.job.has_words is set. Returns 0 or OV_ENOMEM. */
int sim_word_open(struct sim_world *w);
void sim_word_close(struct sim_world *w);

/* Note that a job with processes on node n begins there, and that it is over
 * there. */
void sim_word_begin(struct sim_world *w, uint32_t n);
void sim_word_end(struct sim_world *w, uint32_t n);

/* Queues a word of node n; the caller must then report to the node that its
 * input 0 has something to read. */
void sim_word_push(struct sim_world *w, uint32_t n, struct sim_word word);

/* Writes a record with as many of the waiting words as fit. */
void sim_word_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                   struct ov_read *read);

/* Reads the next word of a record, at *at_bytes, which is 0 at first. Returns
 * false when there are no more words, or the next bytes are no valid word.
 * O(parts of the frame). */
bool sim_word_next(const struct ov_slice *slice, uint32_t *at_bytes,
                   struct sim_word *out);

#endif
