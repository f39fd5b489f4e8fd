/* The session's own job: what a user of `xylem run` sees of it. */
#ifndef ENDPOINTS_RUN_OWN_H
#define ENDPOINTS_RUN_OWN_H

#include <stdint.h>

struct run;

/* The job is planned: begins its life, and the proof of its output in this many
 * places. Returns 0 or OV_ENOMEM; ep_run_job_fini() frees what it has.
 * O(processes). */
int ep_run_own_open(struct run *r, uint32_t places);
/* Tells the job to the nodes, and opens the launcher's stdin when a process
 * reads it. Returns 0, or 1 after saying why it failed. */
int ep_run_own_tell(struct run *r);

#endif
