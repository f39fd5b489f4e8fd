/* The session's own job: what a user of `xylem run` sees of it. */
#ifndef ENDPOINTS_RUN_OWN_H
#define ENDPOINTS_RUN_OWN_H

#include <stdint.h>

struct run;

/* It is planned: its life begins, and its output is proved in so many places.
 * Returns 0 or OV_ENOMEM; ep_run_job_fini() frees what it has. O(processes). */
int ep_run_own_open(struct run *r, uint32_t places);
/* Tells it to the nodes, and opens the launcher's stdin where somebody reads
 * it. Returns 0, or 1 when it has said why not. */
int ep_run_own_tell(struct run *r);

#endif
