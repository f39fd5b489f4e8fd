/* Nodes that are lost: what becomes of the job. */
#include "endpoints/run/loss.h"

#include <signal.h>
#include <stdlib.h>

#include "endpoints/run/ask.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/losses.h"
#include "endpoints/run/missing.h"
#include "endpoints/run/sweeps.h"
#include "endpoints/run/tap.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/clock.h"
#include "overlay/wire/frame.h"

bool ep_run_bears_loss(const struct run *r)
{
    return r->options.is_dvm || r->options.on_node_loss == EP_RUN_LOSS_CONTINUE;
}

static bool goes_on(const struct run *r)
{
    return ep_run_bears_loss(r) && r->phase == RUN_RUNNING && r->exit_code < 0;
}

/* Says goodbye for a node that cannot any more. */
static void count_final(struct run *r, uint32_t node)
{
    if (r->nodes[node].is_final)
        return;
    r->nodes[node].is_silent = true;
    r->nodes[node].is_final = true;
    r->finals++;
}

static void end_rank(struct run *r, uint32_t node, uint32_t rank)
{
    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        bool has = (job_channels(&r->job) & 1u << channel) != 0;
        struct ep_console_record end = {
            .proc = rank,
            .rank = rank,
            .host = ep_run_host(r, node),
            .channel = channel,
            .is_eof = true,
            .cookie = RUN_NO_RECORD,
        };
        struct ep_tap_output told = {.rank = rank,
                                     .channel = channel,
                                     .is_end = true,
                                     .is_broken = has,
                                     .cookie = RUN_NO_RECORD};

        ep_run_tap_output(r, &told, NULL);
        /* What is not told now ends at the very end. */
        if (has)
            (void)ep_output_record(r->output, &end);
    }
}

/* What is asked of their past is not answered. */
static void tell_tap(struct run *r, uint32_t node)
{
    struct job_part part = {0};

    while (job_next_on_node(&r->job, node, &part))
        ep_run_tap_lost(r, part.first_rank, part.count);
}

/* Lines that its processes left open end here. They are killed where they still
 * run, and how one has ended that did not is not known: to tools all are, as
 * those of further jobs. */
static void end_ranks(struct run *r, uint32_t node)
{
    struct job_part part = {0};

    while (job_next_on_node(&r->job, node, &part)) {
        for (uint32_t i = 0; i < part.count; i++) {
            end_rank(r, node, part.first_rank + i);
            ep_run_tap_exit(r, part.first_rank + i, SIGKILL);
        }
    }
}

static void remember(struct run *r, uint32_t node)
{
    uint32_t *lost = reallocarray(r->lost, r->lost_count + 1, sizeof(*r->lost));

    r->nodes[node].is_lost = true;
    if (r->lost_ns == 0)
        r->lost_ns = ep_clock_ns();
    if (lost == NULL)
        return;
    r->lost = lost;
    lost[r->lost_count++] = ep_run_place(r, node);
}

/* A dvm without a node. */
static bool is_bare(struct run *r)
{
    if (!r->options.is_dvm || r->lost_count < r->nodes_count)
        return false;
    ep_run_say(r, "no node is left");
    return true;
}

void ep_run_lost(struct run *r, uint32_t node)
{
    if (node == 0 || node > r->nodes_count || r->nodes[node].is_lost ||
        r->phase >= RUN_LEAVING)
        return;
    if (r->phase == RUN_LAUNCHING) {
        ep_run_missing(r, node, "it was lost before the job began", NULL);
        return;
    }
    ep_run_sweep(r, node);
    tell_tap(r, node);
    if (r->nodes[node].is_final && !r->options.is_dvm) { /* nothing is lost */
        r->nodes[node].is_lost = true;
        ep_run_ask_lost(r, node);
        return;
    }
    remember(r, node);
    ep_run_losses_add(r, node, goes_on(r));
    count_final(r, node);
    end_ranks(r, node);
    ep_run_jobs_lost(r, node);
    if (!goes_on(r) || is_bare(r))
        ep_run_abort(r, 1);
    ep_run_ask_lost(r, node);
}
