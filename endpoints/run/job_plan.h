/* Plans a further job: what its processes are, and where they run. */
#ifndef ENDPOINTS_RUN_JOB_PLAN_H
#define ENDPOINTS_RUN_JOB_PLAN_H

#include "job/job.h"
#include "endpoints/client/requests.h"

struct run_nodes;
struct run_plan;

/* Fills the zeroed *job, except for its number and base. The job numbers its
 * nodes by places of its own: in the order of its list of hosts; in the order
 * of the tree when its programs have lists that differ; and in the order of
 * placing.h when it has no list.
 *
 * Returns 0; or an OV_E... code with the kind of error in *refusal and, except
 * for EP_CLIENT_LATER, a sentence in why (EP_CLIENT_WHY_MAX bytes). *job must
 * then be freed by job_fini(). Costs as much as ep_run_placing(). */
int ep_run_job_plan(const struct run_plan *plan, struct run_nodes *nodes,
                    const struct ep_client_spawn *spawn, struct job *job,
                    enum ep_client_refusal *refusal, char *why);

#endif
