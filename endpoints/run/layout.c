/* The tree of a run, planned without starting the run. */
#include "endpoints/run/layout.h"

#include <stdlib.h>

#include "endpoints/run/plan.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/prelude.h"

struct ep_layout {
    struct ep_run_options options;
    struct run_relaunch again; /* always empty, as no launch is repeated */
    struct run_voice voice;
    struct job job;
    struct run_plan plan;
};

int ep_layout_open(const struct ep_run_options *options, struct ep_layout **out)
{
    struct ep_layout *layout = calloc(1, sizeof(*layout));
    uint32_t most = 0;
    int rc;

    *out = NULL;
    if (layout == NULL)
        return 1;
    layout->options = *options;
    layout->voice.is_verbose = options->verbose;
    layout->voice.is_quiet = options->quiet;
    layout->plan = (struct run_plan){.options = &layout->options,
                                     .relaunch = &layout->again,
                                     .voice = &layout->voice,
                                     .job = &layout->job};
    ep_prelude_open(options->timeout_s, ep_clock_ns());
    rc = ep_run_plan_nodes(&layout->plan, &most);
    ep_prelude_close();
    if (rc != 0) {
        ep_layout_close(layout);
        return rc;
    }
    *out = layout;
    return 0;
}

void ep_layout_close(struct ep_layout *layout)
{
    if (layout == NULL)
        return;
    ep_run_plan_close(&layout->plan);
    job_fini(&layout->job);
    ep_voice_fini(&layout->voice);
    free(layout);
}

const struct topo_tree *ep_layout_tree(const struct ep_layout *layout)
{
    return &layout->plan.config.tree;
}

const struct ep_tree_plan *ep_layout_plan(const struct ep_layout *layout)
{
    return &layout->plan.tree;
}

const char *ep_layout_host(const struct ep_layout *layout, uint32_t node)
{
    return ep_run_host(&layout->plan, node);
}

uint32_t ep_layout_place(const struct ep_layout *layout, uint32_t node)
{
    return ep_run_place(&layout->plan, node);
}

uint32_t ep_layout_procs(const struct ep_layout *layout, uint32_t node)
{
    return job_on_node(&layout->job, node);
}

bool ep_layout_is_virtual(const struct ep_layout *layout)
{
    return layout->plan.hosts.count == 0;
}

uint32_t ep_layout_switch(const struct ep_layout *layout, uint32_t node)
{
    const struct topo_under *under = &layout->plan.tree.under;

    if (under->under == NULL)
        return TOPO_NONE;
    return node == 0 ? under->launcher
                     : under->under[ep_run_place(&layout->plan, node)];
}
