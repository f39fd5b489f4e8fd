/* What the hosts say of their machines. */
#include "endpoints/run/survey.h"

#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/tap.h"
#include "job/order.h"

void ep_run_survey_ask(struct run *r)
{
    struct job_order order = {.kind = JOB_CONTROL_MACHINE};
    uint32_t node, asked;

    while ((node = ep_run_nodes_due(r->nodes)) != 0)
        ep_run_orders_add(r->orders, &order, node);
    ep_run_orders_rest(r->orders, &order);
    asked = ep_run_nodes_asked(r->nodes);
    ep_voice_note(&r->voice,
                  "a job waits for what the machines of %u node%s are", asked,
                  asked == 1 ? "" : "s");
}

/* Why a node cannot tell is kept for those who have waited for it. Returns
 * whether its machine is news. */
static bool take_word(struct run *r, uint32_t node, const struct job_word *word)
{
    bool is_news;

    if (ep_run_nodes_said(r->nodes, node, word, &is_news) &&
        ep_run_nodes_asked(r->nodes) == 0) {
        ep_run_tap_again(r);
        ep_run_nodes_forgive(r->nodes);
    }
    return is_news;
}

bool ep_run_survey_word(struct run *r, uint32_t node,
                        const struct job_word *word)
{
    return take_word(r, node, word) &&
           ++r->plan.survey.come == r->plan.nodes_count;
}

void ep_run_survey_lost(struct run *r, uint32_t node)
{
    (void)take_word(r, node, NULL);
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
