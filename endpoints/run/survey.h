/* The machines of the hosts, where ranks are placed by them.
 *
 * How many processes a node has must be known before its daemon starts: they
 * decide its memory and its descriptors. So hosts are first taken to be like
 * this one. Each daemon then says what its machine is, before any process
 * starts, and where that is not what was taken the job is started anew by what
 * was said. Hosts that are like this one cost a message each; others a second
 * launch.
 */
#ifndef ENDPOINTS_RUN_SURVEY_H
#define ENDPOINTS_RUN_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/again.h"

struct run_nodes;
struct run_plan;
struct run_voice;

struct ep_survey {
    struct ep_machine *machines; /* owned: by host of the list; virtual nodes
                                    have one. NULL: nothing depends on them */
    uint32_t count;
    bool by_slots, by_cores, by_sockets; /* what depends on them */
    bool is_blind;   /* the guess has no room for the job: it asks, no more */
    bool has_joined; /* all nodes have */
    uint32_t come;   /* nodes that have said theirs */
};

/* Do daemons have to say what their machine is? */
bool ep_run_survey_asks(const struct run_plan *plan);

/* One more node has said what its machine is. True: it was the last one. */
bool ep_run_survey_come(struct run_plan *plan);

/* When all have joined and said so. True: ranks are where they should be. Else
 * it has said why not, and the run is to end; to be started anew where
 * plan->again says that this is due. O(hosts). */
bool ep_run_survey_fits(struct run_plan *plan, const struct run_nodes *nodes,
                        struct run_voice *voice);

void ep_run_survey_close(struct ep_survey *survey);

#endif
