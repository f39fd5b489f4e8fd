/* What nodes say of jobs: words in records of their STATE channel, as daemons
 * say them (job/word.h), in the order in which things happen there.
 *
 * OVER, that all jobs which have processes there are over, comes in a record of
 * its own.
 */
#ifndef SIM_WORD_H
#define SIM_WORD_H

#include "job/word.h"
#include "sim/state.h"

struct sim_word {
    uint8_t kind;    /* enum job_word_kind */
    uint16_t status; /* EXIT: as of waitpid() */
    uint32_t number; /* of the process; STARTED: the first; OVER: of the jobs */
};

/* Nothing unless nodes have words. 0 or OV_ENOMEM. */
int sim_word_open(struct sim_world *w);
void sim_word_close(struct sim_world *w);

/* A job begins that has processes on node n, and is over there. */
void sim_word_begin(struct sim_world *w, uint32_t n);
void sim_word_end(struct sim_world *w, uint32_t n);

/* Node n will say it; the owner makes its input ready. */
void sim_word_push(struct sim_world *w, uint32_t n, struct sim_word word);

/* A record of those that fit. */
void sim_word_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                   struct ov_read *read);

/* The words of a record that has come, one after another: *at_bytes begins at
 * 0. False: there is no more, or what follows is no word. O(parts of the
 * frame).
 */
bool sim_word_next(const struct ov_slice *slice, uint32_t *at_bytes,
                   struct sim_word *out);

#endif
