/* Compares the machines that hosts have reported with those that were
 * assumed. */
#include "endpoints/run/survey.h"

#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/voice.h"

bool ep_run_survey_come(struct run_plan *plan)
{
    return ++plan->survey.come == plan->nodes_count;
}

/* Tells whether two machines are the same, as far as it matters for placing
 * ranks. */
static bool is_alike(const struct ep_survey *survey, const struct ep_machine *a,
                     const struct ep_machine *b)
{
    return (!survey->by_cores || a->cores == b->cores) &&
           (!survey->by_sockets || a->packages == b->packages);
}

/* Passes the known machines on to the next launch. Returns 0 or OV_ENOMEM. */
static int keep_machines(struct run_plan *plan)
{
    const struct ep_survey *survey = &plan->survey;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < survey->count; i++) {
        if (survey->machines[i].is_known)
            rc = ep_run_relaunch_know(plan->relaunch,
                                      topo_hosts_name(&plan->hosts, i),
                                      survey->machines[i]);
    }
    return rc;
}

/* Notes what a node has said. Returns false when a machine differs from what
 * the same host had said in an earlier launch: the run ends, because it could
 * go on launching for ever. */
static bool take_machine(struct run_plan *plan, uint32_t node,
                         const struct ep_machine *now, struct run_voice *voice,
                         bool *fits)
{
    struct ep_machine *of = &plan->survey.machines[ep_run_place(plan, node)];
    bool is_same = is_alike(&plan->survey, of, now);

    if (!is_same && of->is_known) {
        ep_voice_say(voice,
                     "%s has %u sockets with %u cores now, and %u with %u a "
                     "moment ago: give --ppn a number alone",
                     ep_run_host(plan, node), now->packages, now->cores,
                     of->packages, of->cores);
        return false;
    }
    *of = *now;
    *fits = *fits && is_same;
    return true;
}

bool ep_run_survey_fits(struct run_plan *plan, const struct run_nodes *nodes,
                        struct run_voice *voice)
{
    bool fits = !plan->survey.is_blind;

    for (uint32_t node = 1; node <= plan->nodes_count; node++) {
        if (!take_machine(plan, node, ep_run_nodes_machine(nodes, node), voice,
                          &fits))
            return false;
    }
    if (fits)
        return true;
    plan->relaunch->is_due = keep_machines(plan) == 0;
    if (!plan->relaunch->is_due)
        ep_voice_fail(voice, "out of memory");
    else
        ep_voice_note(voice, "the hosts differ from what was assumed: starting "
                             "again with their real cores and sockets");
    return false;
}
