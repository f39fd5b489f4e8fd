/* Neighbouring ranks of one program on one host. Answers to the question where
 * the ranks of a job are consist of these. */
#ifndef JOB_NEIGHBOURS_H
#define JOB_NEIGHBOURS_H

#include <stdint.h>

struct job_neighbours {
    const char *host; /* borrowed, as all pointers here; the giver says for
                         how long */
    const char *program;
    const char *const *argv; /* NULL-terminated, the program first; or NULL */
    uint32_t app;            /* number of the program */
    uint32_t first_rank;
    uint32_t ranks;
};

#endif
