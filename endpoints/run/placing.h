/* Decides where the processes of a further job run.
 *
 * The processes of programs with the same list of hosts are placed one after
 * the other (topo/programs.h); programs with other lists are placed
 * independently. A program without a list of hosts, but with a number of
 * processes, begins on the nodes that have the fewest processes of further
 * jobs. No node gets more than RUN_SPARE_PROCS processes of further jobs: when
 * a node would, programs with a number of processes spread them evenly over the
 * nodes that have room.
 */
#ifndef ENDPOINTS_RUN_PLACING_H
#define ENDPOINTS_RUN_PLACING_H

#include "job/job.h"
#include "endpoints/client/requests.h"

struct run_nodes;
struct run_plan;

/* Fills the places, ranks and size of *job, whose programs are known. Returns
 * 0; or an OV_E... code with the kind of error in *refusal and, except for
 * EP_CLIENT_LATER, a sentence in why (EP_CLIENT_WHY_MAX bytes). O(nodes *
 * (programs + log nodes) + processes). */
int ep_run_placing(const struct run_plan *plan, struct run_nodes *nodes,
                   const struct ep_client_spawn *spawn, struct job *job,
                   enum ep_client_refusal *refusal, char *why);

#endif
