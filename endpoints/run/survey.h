/* The machines of the hosts, for ranks that are placed by them.
 *
 * How many processes a node has must be known before its daemon starts, as they
 * decide its memory and its descriptors. So hosts are first assumed to be like
 * this one. Each daemon then says what its machine is, before any process
 * starts, and where the assumption was wrong the job is started anew by what
 * was said. Hosts that are like this one cost a message each; others cost a
 * second launch.
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
    /* Owned: by host of the list; virtual nodes share one. NULL: nothing
     * depends on them. */
    struct ep_machine *machines;
    uint32_t count;
    bool by_slots, by_cores, by_sockets; /* what depends on them */
    /* The guess has no room for the job, so this launch only asks. */
    bool is_blind;
    bool has_joined; /* all nodes have joined */
    uint32_t come;   /* nodes that have told their machine */
};

/* Tells whether daemons have to say what their machine is. */
bool ep_run_survey_asks(const struct run_plan *plan);

/* One more node has told its machine. Returns true for the last one. */
bool ep_run_survey_come(struct run_plan *plan);

/* To be called when all nodes have joined and told their machines. Returns true
 * when ranks are where they should be. Otherwise the user was told why not and
 * the run is to end; it is started anew if plan->relaunch says so. O(hosts). */
bool ep_run_survey_fits(struct run_plan *plan, const struct run_nodes *nodes,
                        struct run_voice *voice);

void ep_run_survey_close(struct ep_survey *survey);

#endif
