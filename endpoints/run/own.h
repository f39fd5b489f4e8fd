/* The session's own job, which a user of `xylem run` starts and sees. */
#ifndef ENDPOINTS_RUN_OWN_H
#define ENDPOINTS_RUN_OWN_H

#include <stdint.h>

struct run;

/* Begins the life of the planned job, and the proof that each of this many
 * takers (console, files) gets all of its output. Returns 0 or OV_ENOMEM;
 * ep_run_job_fini() frees what this allocates. O(processes). */
int ep_run_own_open(struct run *r, uint32_t places);
/* Sends the job's description to the nodes, and opens the launcher's stdin when
 * a process reads it. Returns 0, or 1 after a message that says why it
 * failed. */
int ep_run_own_tell(struct run *r);

#endif
