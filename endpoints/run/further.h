/* The plan of a further job: what its processes are, and where. */
#ifndef ENDPOINTS_RUN_FURTHER_H
#define ENDPOINTS_RUN_FURTHER_H

#include "job/job.h"
#include "endpoints/client/taps.h"

struct run_nodes;
struct run_plan;

/* Fills the zeroed *job, but for its number and base. It has places of its own:
 * the nodes that it runs on, in the order of its list of hosts, or where its
 * programs have lists that differ in that of the tree; without a list as
 * placing.h has it.
 *
 * Returns 0; an OV_E... code with *refusal and, but for EP_TAP_LATER, a
 * sentence in why (EP_TAP_WHY_MAX bytes), with what the caller gives to
 * job_fini() in *job. Costs what placing.h says. */
int ep_run_further(const struct run_plan *plan, struct run_nodes *nodes,
                   const struct ep_tap_spawn *spawn, struct job *job,
                   enum ep_tap_refusal *refusal, char *why);

#endif
