/* Neighbouring ranks of one program on one host. An array of these says where
 * the ranks of a job run. */
#ifndef JOB_NEIGHBOURS_H
#define JOB_NEIGHBOURS_H

#include <stdint.h>

struct job_neighbours {
    const char *host; /* borrowed, like all pointers here; whoever fills this
                         struct says for how long */
    const char *program;
    const char *const *argv; /* NULL-terminated, the program first; or NULL */
    uint32_t app;            /* number of the program */
    uint32_t first_rank;
    uint32_t ranks;
};

#endif
