/* The machines of the hosts, for ranks that are placed by cores, sockets or
 * slots.
 *
 * The number of processes of a node must be known before its daemon starts,
 * because the daemon's memory and descriptors depend on it. So the plan first
 * assumes that all hosts are like this one. Each daemon then says what its
 * machine is, before any process starts. Where the assumption was wrong, the
 * job is started again, planned by what the daemons said. A host that is like
 * this one costs a message; any other host costs a second launch.
 */
#ifndef ENDPOINTS_RUN_SURVEY_H
#define ENDPOINTS_RUN_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/relaunch.h"

struct run_nodes;
struct run_plan;
struct run_voice;

struct ep_survey {
    /* Owned: one for each host of the list; virtual nodes share one. NULL when
     * nothing depends on the machines. */
    struct ep_machine *machines;
    uint32_t count;
    /* which options make the plan depend on the machines: -n, or --ppn per core
     * or socket */
    bool by_slots, by_cores, by_sockets;
    /* By the assumption the job has no room, so this launch only asks. */
    bool is_blind;
    bool has_joined; /* whether all nodes have joined */
    uint32_t come;   /* how many nodes have said what their machine is */
};

/* Tells whether daemons have to say what their machine is. */
bool ep_run_survey_asks(const struct run_plan *plan);

/* Counts a node that has said what its machine is. Returns true for the last
 * node. */
bool ep_run_survey_come(struct run_plan *plan);

/* Tells whether the ranks are where the machines require. To be called when all
 * nodes have joined and have said what their machines are. When this returns
 * false, the user has been told why, and the caller must end the run; if
 * plan->relaunch says so, another launch follows. O(hosts). */
bool ep_run_survey_fits(struct run_plan *plan, const struct run_nodes *nodes,
                        struct run_voice *voice);

void ep_run_survey_close(struct ep_survey *survey);

#endif
