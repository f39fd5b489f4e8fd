/* Processes of a job that are neighbours by rank, of one program, on one host:
 * how those who ask hear where its ranks are. */
#ifndef JOB_NEIGHBOURS_H
#define JOB_NEIGHBOURS_H

#include <stdint.h>

struct job_neighbours {
    const char *host; /* borrowed, as all: who gives it says how long */
    const char *program;
    const char *const *argv; /* NULL-terminated, the program first; or NULL */
    uint32_t app;            /* number of the program */
    uint32_t first_rank;
    uint32_t ranks;
};

#endif
