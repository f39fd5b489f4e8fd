/* Where the processes of a further job run.
 *
 * Programs with the same list of hosts follow each other (topo/programs.h);
 * programs with other lists are placed independently. A program without hosts
 * that says how many processes it has begins on the nodes that have the fewest
 * processes of further jobs. No node gets more of these than RUN_SPARE_PROCS:
 * where one would, programs that say how many processes they have use the nodes
 * that have room, and share them evenly.
 */
#ifndef ENDPOINTS_RUN_PLACING_H
#define ENDPOINTS_RUN_PLACING_H

#include "job/job.h"
#include "endpoints/client/requests.h"

struct run_nodes;
struct run_plan;

/* Fills the places, ranks and size of *job, which has its programs. Returns 0;
 * or an OV_E... code with *refusal and, except for EP_CLIENT_LATER, a sentence
 * in why (EP_CLIENT_WHY_MAX bytes). O(nodes * (programs + log nodes) +
 * processes). */
int ep_run_placing(const struct run_plan *plan, struct run_nodes *nodes,
                   const struct ep_client_spawn *spawn, struct job *job,
                   enum ep_client_refusal *refusal, char *why);

#endif
