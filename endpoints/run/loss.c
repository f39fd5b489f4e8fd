/* Nodes that are lost: what becomes of the job. */
#include "endpoints/run/loss.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/clock.h"
#include "overlay/wire/frame.h"

static bool goes_on(const struct run *r)
{
    return r->options.on_node_loss == EP_RUN_LOSS_CONTINUE &&
           r->phase == RUN_RUNNING && r->exit_code < 0;
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

/* Lines that its processes left open end here. */
static void end_channels(struct run *r, uint32_t node)
{
    uint32_t first;
    uint32_t count = ep_job_on_node(&r->job, node, &first);

    for (uint32_t i = 0; i < 2 * count; i++) {
        struct ep_console_record end = {
            .rank = first + i / 2,
            .host = ep_run_host(r, node),
            .channel = i % 2 == 0 ? OV_CHANNEL_STDOUT : OV_CHANNEL_STDERR,
            .is_eof = true,
            .cookie = RUN_NO_RECORD,
        };

        (void)ep_console_record(r->console, &end); /* else at the very end */
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
    lost[r->lost_count++] = node - 1;
}

static void tell(struct run *r, uint32_t node)
{
    uint32_t first;
    uint32_t count = ep_job_on_node(&r->job, node, &first);
    const char *then =
        goes_on(r) ? "the job goes on without it" : "the job ends";
    char ranks[64] = "";

    if (count == 1)
        snprintf(ranks, sizeof(ranks), ", with rank %u", first);
    else if (count > 1)
        snprintf(ranks, sizeof(ranks), ", with ranks %u-%u", first,
                 first + count - 1);
    /* The end of others is no news while the job ends. */
    (r->exit_code < 0 ? ep_run_say : ep_run_note)(
        r, "the daemon of node %u on %s is lost%s; %s", node - 1,
        ep_run_host(r, node), ranks, then);
}

void ep_run_lost(struct run *r, uint32_t node)
{
    if (node == 0 || node > r->nodes_count || r->nodes[node].is_lost ||
        r->phase >= RUN_LEAVING)
        return;
    remember(r, node);
    tell(r, node);
    count_final(r, node);
    if (r->phase == RUN_RUNNING)
        end_channels(r, node);
    if (!goes_on(r))
        ep_run_abort(r, 1);
}
