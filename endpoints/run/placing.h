/* Where the processes of a further job run.
 *
 * Programs with the same list of hosts follow each other (topo/programs.h);
 * others do not see each other. Those without hosts, which say how many they
 * are, begin on the nodes that have the fewest processes of such jobs. No node
 * gets more of them than RUN_SPARE_PROCS: where one would, those that say how
 * many they are go on the nodes with room and share these evenly.
 */
#ifndef ENDPOINTS_RUN_PLACING_H
#define ENDPOINTS_RUN_PLACING_H

#include "job/job.h"
#include "endpoints/client/taps.h"

struct run_nodes;
struct run_plan;

/* Fills the places, ranks and size of *job, which has its programs. Returns 0;
 * an OV_E... code with *refusal and, but for EP_TAP_LATER, a sentence in why
 * (EP_TAP_WHY_MAX bytes). O(nodes * (programs + log nodes) + processes). */
int ep_run_placing(const struct run_plan *plan, struct run_nodes *nodes,
                   const struct ep_tap_spawn *spawn, struct job *job,
                   enum ep_tap_refusal *refusal, char *why);

#endif
