/* What the hosts say of their machines. */
#include "endpoints/run/survey.h"

#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"

bool ep_run_survey_come(struct run *r)
{
    return ++r->plan.survey.come == r->plan.nodes_count;
}

/* As far as it matters. */
static bool is_alike(const struct ep_survey *survey, const struct ep_machine *a,
                     const struct ep_machine *b)
{
    return (!survey->by_cores || a->cores == b->cores) &&
           (!survey->by_sockets || a->packages == b->packages);
}

/* For the next launch. Returns 0 or OV_ENOMEM. */
static int keep(struct run *r)
{
    const struct ep_survey *survey = &r->plan.survey;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < survey->count; i++) {
        if (survey->machines[i].is_known)
            rc = ep_run_again_know(r->plan.again,
                                   topo_hosts_name(&r->plan.hosts, i),
                                   survey->machines[i]);
    }
    return rc;
}

/* A host that is not what it was a moment ago would be asked for ever. */
static bool take(struct run *r, uint32_t node, bool *fits)
{
    const struct ep_machine *now = ep_run_nodes_machine(r->nodes, node);
    struct ep_machine *of =
        &r->plan.survey.machines[ep_run_place(&r->plan, node)];

    if (is_alike(&r->plan.survey, of, now)) {
        *of = *now;
        return true;
    }
    if (of->is_known) {
        ep_voice_say(&r->voice,
                     "%s has %u sockets with %u cores now, and %u with %u a "
                     "moment ago: give --ppn a number alone",
                     ep_run_host(&r->plan, node), now->packages, now->cores,
                     of->packages, of->cores);
        ep_run_abort(r, 1);
        return false;
    }
    *of = *now;
    *fits = false;
    return true;
}

bool ep_run_survey_fits(struct run *r)
{
    bool fits = !r->plan.survey.is_blind;

    for (uint32_t node = 1; node <= r->plan.nodes_count; node++) {
        if (!take(r, node, &fits))
            return false;
    }
    if (fits)
        return true;
    r->plan.again->is_due = keep(r) == 0;
    if (!r->plan.again->is_due)
        ep_voice_fail(&r->voice, "out of memory");
    else
        ep_voice_note(&r->voice,
                      "the hosts are other machines than was thought: the "
                      "job is started anew by what they are");
    ep_run_abort(r, 1);
    return false;
}
