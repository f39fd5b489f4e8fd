/* What a run tells all its nodes: how its orders leave, and a job. */
#ifndef ENDPOINTS_RUN_CONTROL_H
#define ENDPOINTS_RUN_CONTROL_H

struct job;
struct run;

/* Opens r->orders, when the plan is made. Returns 0 or OV_ENOMEM. */
int ep_run_control_open(struct run *r);
/* Queues a job's text for all nodes, which have something to run from here on.
 * Returns 0; OV_EFULL when it is larger than JOB_BYTES_MAX. */
int ep_run_control_job(struct run *r, const struct job *job);

#endif
