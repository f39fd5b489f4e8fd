/* What the launcher does about lost nodes, and what they mean for the job. */
#include "endpoints/run/loss.h"

#include <stdlib.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/losses.h"
#include "endpoints/run/launch.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/sweeps.h"

bool ep_run_bears_loss(const struct run *r)
{
    return r->options.is_dvm || r->options.on_node_loss == EP_RUN_LOSS_CONTINUE;
}

static bool goes_on(const struct run *r)
{
    return ep_run_bears_loss(r) && job_session_goes_on(&r->session);
}

static void remember(struct run *r, uint32_t node)
{
    uint32_t *lost = reallocarray(r->loss.places, r->loss.count + 1,
                                  sizeof(*r->loss.places));

    if (lost == NULL)
        return;
    r->loss.places = lost;
    lost[r->loss.count++] = ep_run_place(&r->plan, node);
}

/* Tells whether the run is a dvm that has no node left. */
static bool is_bare(struct run *r)
{
    if (!r->options.is_dvm || r->loss.count < r->plan.nodes_count)
        return false;
    ep_voice_say(&r->voice, "no node is left; the job ends");
    return true;
}

static bool is_lost(void *arg, uint32_t node)
{
    const struct run *r = arg;

    return ep_run_nodes_is_lost(r->nodes, node);
}

/* Ends the parts of jobs, or of the dvm, that ran on the node. */
static void lose_part(struct run *r, uint32_t node)
{
    remember(r, node);
    ep_run_losses_add(r->loss.untold, node, goes_on(r), r->session.code < 0);
    ep_run_jobs_lost(r, node);
    if (!goes_on(r) || is_bare(r))
        ep_run_abort(r, 1);
}

void ep_run_lost(struct run *r, uint32_t node)
{
    bool was_final;

    if (node == 0 || node > r->plan.nodes_count || is_lost(r, node) ||
        r->session.state >= JOB_SESSION_LEAVING)
        return;
    if (r->session.state == JOB_SESSION_LAUNCHING) {
        ep_run_launch_lost(r->launch, node);
        return;
    }
    was_final = ep_run_nodes_is_final(r->nodes, node);
    ep_run_nodes_lose(r->nodes, node);
    ep_run_sweep_lost(r->loss.sweeps, node);
    ep_run_jobs_silent(r, node);
    if (!was_final || r->options.is_dvm)
        lose_part(r, node);
    (void)ep_run_jobs_machine(r, node, NULL);
}

int ep_run_loss_open(struct run *r)
{
    const struct run_sweeps_cfg cfg = {
        .plan = &r->plan,
        .base = r->base,
        .signals = r->signals,
        .daemons = ep_run_daemons(&r->plan),
        .is_lost = is_lost,
        .arg = r,
    };

    int rc = ep_run_losses_open(&r->plan, r->base, &r->loss.untold);

    return rc == 0 ? ep_run_sweeps_open(&cfg, &r->loss.sweeps) : rc;
}

void ep_run_loss_close(struct run *r)
{
    ep_run_losses_close(r->loss.untold);
    ep_run_sweeps_close(r->loss.sweeps);
    free(r->loss.places);
}

/* --- sweeping the hosts of lost nodes */

void ep_run_loss_sweep(struct run *r)
{
    char *list;

    for (uint32_t n = 1; r->session.has_begun && n <= r->plan.nodes_count;
         n++) {
        if (!ep_run_nodes_is_final(r->nodes, n) ||
            ep_run_launch_is_deaf(r->launch))
            ep_run_sweep(r->loss.sweeps, n);
    }
    list = ep_run_sweeps_end(r->loss.sweeps);
    if (list != NULL && !r->end.is_quiet)
        ep_voice_say(
            &r->voice,
            "could not check for processes that the job may have left on: %s",
            list);
    free(list);
}
