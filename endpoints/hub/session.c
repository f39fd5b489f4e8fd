/* Opens the hub of a session. */
#include "endpoints/hub/session.h"

#include <stdio.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/sys/limits.h"
#include "job/job.h"
#include "overlay/base/err.h"

/* The launcher ends an incomplete launch after this many launch timeouts. */
enum { LAUNCHES = 2 };

/* Returns how many accepted links have all their receives: for one node as many
 * as may send unasked, for several nodes as many as are planned. */
static uint32_t accepted_full(const struct ep_hub_cfg *hub)
{
    uint32_t links = 0;

    if (hub->nodes_count == 1)
        return hub->overlay.standing_max;
    for (uint32_t i = 0; i < hub->nodes_count; i++) {
        struct topo_range children =
            topo_tree_children(&hub->overlay.plan, hub->nodes[i]);

        if (children.first <= children.last)
            links += children.last - children.first + 1;
    }
    return links > 0 ? links : 1;
}

static int configure(const struct ep_boot_config *config,
                     struct ep_hub_cfg *hub, char *why)
{
    struct ov_cfg *cfg = &hub->overlay;
    uint64_t launch_ns =
        (uint64_t)config->launch_timeout_ms * 1000000 * LAUNCHES;
    const char *fault;

    *cfg = ov_cfg_default(config->tree);
    cfg->frame_bytes = config->frame_bytes;
    cfg->up_window_bytes = config->up_window_bytes;
    cfg->down_frames = (uint16_t)config->down_window_frames;
    cfg->control_frames = EP_SESSION_CONTROL_FRAMES;
    cfg->streams_max = 1 + JOB_STREAM_PUSHED;
    cfg->up_frames =
        (uint16_t)ep_boot_param(config, "up_frames", EP_SESSION_UP_FRAMES);
    cfg->standing_max =
        (uint16_t)ep_boot_param(config, "standing", cfg->standing_max);
    cfg->lent_frames =
        (uint16_t)ep_boot_param(config, "lent", EP_SESSION_LENT_FRAMES);
    cfg->folds = ep_boot_param(config, EP_BOOT_PARAM_FOLDS, 0) != 0;
    if (cfg->folds)
        cfg->kept_max = OV_KEPT_FOLDED;
    ov_times_set(&cfg->times, (uint64_t)config->heartbeat_ms * 1000000);
    if (cfg->times.launch_ns < launch_ns)
        cfg->times.launch_ns = launch_ns;
    /* The root has no processes. */
    hub->inputs = hub->nodes[0] == 0 ? 1 : (uint16_t)ep_session_inputs(config);
    hub->transport = (struct ep_transport_cfg){
        .provider = config->provider,
        .interface = config->interface,
        .is_local = ep_launcher_ops(config->launcher)->is_here,
        .port_first = config->port_first,
        .port_last = config->port_last,
        .frame_bytes = cfg->frame_bytes,
        .posted_receives = (uint16_t)ep_boot_param(config, "posted_receives",
                                                   EP_SESSION_POSTED_RECEIVES),
        .accepted_full = accepted_full(hub),
        .send_slots = cfg->send_slots,
        .unproved_ms = 5000,
    };
    if (ov_cfg_check(cfg, &fault) == 0)
        return 0;
    snprintf(why, EP_WHY_MAX, "sizes or times do not fit together: %s", fault);
    return OV_EINVAL;
}

/* Returns how many descriptors a process may need beyond the plan. Some are for
 * links to orphans: the root takes all of them, other nodes as many as they
 * have children. Some are for processes of further jobs, which need fewer than
 * two for each input. */
static uint64_t further(const struct ep_boot_config *config,
                        const struct ep_hub_cfg *hub)
{
    uint64_t inputs = hub->inputs;

    if (hub->nodes[0] == 0)
        return config->tree.nodes;
    return hub->nodes_count * (ep_session_children(config->tree) + 2 * inputs);
}

int ep_session_open(const struct ep_boot_config *config, struct ep_hub_cfg *hub,
                    uint64_t descriptors, struct ep_hub **out, char *why)
{
    int rc = configure(config, hub, why);

    if (rc == 0 && descriptors > 0)
        rc = ep_limits_descriptors(descriptors, why);
    if (rc == 0 && descriptors > 0)
        ep_limits_wish(descriptors + further(config, hub));
    if (rc == 0)
        rc = ep_transport_load(hub->transport.provider, &hub->ops, why);
    if (rc == 0)
        rc = ep_hub_open(hub, out, why);
    return rc;
}
