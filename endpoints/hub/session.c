/* Sizes of a session. */
#include "endpoints/hub/session.h"

#include <stdio.h>

#include "job/job.h"
#include "endpoints/sys/limits.h"
#include "overlay/base/err.h"

enum {
    POSTED_RECEIVES = 4,
    UP_FRAMES = 4,
    /* Of all children that were not planned, and for which there is no room. */
    LENT_FRAMES = 8,
    SHARED_LENT_FRAMES = 4,
    /* Enough that the root does not wait for the slowest leaf's word while
     * all others have something to do. */
    DOWN_FRAMES = 32,
    SHARED_DOWN_FRAMES = 16, /* of each node where a daemon has several */
    CONTROL_FRAMES = 4,
    /* Of own records: more only pushes them out of the cache. */
    UP_WINDOW_FRAMES = 4,
    UP_WINDOW_BYTES_MAX = 256 << 10,
    /* What links and windows may take; the rest of the bounds is for
     * libraries, code and what is in flight. */
    ONE_NODE_BYTES = 18 << 20,
    FURTHER_NODE_BYTES = 850 << 10,
    FRAME_BYTES_MIN = 8 << 10,
    /* The bounds. Of the first 32 MiB libraries and code, some of what a link
     * takes beside its frames, and in the launcher the console's spool have
     * what is left by links and windows, and by unfinished lines. */
    BASE_BYTES = 32 << 20,
    NODE_BYTES = 1 << 20,
    /* The launcher has tables, and for a node that it adopts a link beyond
     * those of its plan, which takes 31 KiB as measured. */
    KNOWN_NODE_BYTES = 1 << 10,
    KNOWN_PROC_BYTES = 1 << 9,
    ADOPTED_BYTES = 36 << 10,
    ADOPTED_MAX = 4096,
    /* Of a daemon: 2.1 KiB as measured with stdout and stderr, 3 KiB at most
     * with all there is for a process. */
    PROC_BYTES = 3 << 10,
    /* The launcher ends a launch after as many launch timeouts itself. */
    LAUNCHES = 2,
};

/* Frames held by a node with that many children. */
static uint64_t frames_of(uint64_t children,
                          const struct ep_session_sizes *sizes)
{
    uint64_t links = children + 1;

    return links * POSTED_RECEIVES + children * UP_FRAMES + sizes->lent +
           sizes->down_frames + CONTROL_FRAMES + 6;
}

/* How many children may have what is planned for one: with several nodes to a
 * daemon no more than the plan has. */
static uint16_t standing_of(uint64_t children, uint32_t nodes_per_daemon,
                            const struct ep_session_sizes *sizes)
{
    uint64_t frames = ONE_NODE_BYTES / sizes->frame_bytes;
    uint64_t most = children;

    if (nodes_per_daemon == 1 && frames > frames_of(children, sizes))
        most += (frames - frames_of(children, sizes)) /
                (POSTED_RECEIVES + UP_FRAMES);
    return (uint16_t)(most > 0 ? most : 1);
}

uint32_t ep_session_children(struct topo_tree tree)
{
    return tree.arity < tree.nodes ? tree.arity : tree.nodes - 1;
}

struct ep_session_sizes ep_session_sizes(struct topo_tree tree,
                                         uint32_t nodes_per_daemon)
{
    uint64_t children = ep_session_children(tree);
    uint32_t frame_bytes = 128 * 1024;
    struct ep_session_sizes sizes = {
        .posted_receives = POSTED_RECEIVES,
        .up_frames = UP_FRAMES,
        .lent = nodes_per_daemon > 1 ? SHARED_LENT_FRAMES : LENT_FRAMES,
        .down_frames = nodes_per_daemon > 1 ? SHARED_DOWN_FRAMES : DOWN_FRAMES,
    };

    /* A node has one child on the average, an inner node all of them. */
    while (frame_bytes > FRAME_BYTES_MIN &&
           (frames_of(children, &sizes) * frame_bytes > ONE_NODE_BYTES ||
            (nodes_per_daemon > 1 &&
             frames_of(1, &sizes) * frame_bytes > FURTHER_NODE_BYTES)))
        frame_bytes /= 2;
    sizes.frame_bytes = frame_bytes;
    sizes.standing = standing_of(children, nodes_per_daemon, &sizes);
    sizes.up_window_bytes = UP_WINDOW_FRAMES * frame_bytes;
    if (sizes.up_window_bytes > UP_WINDOW_BYTES_MAX)
        sizes.up_window_bytes = UP_WINDOW_BYTES_MAX;
    return sizes;
}

uint64_t ep_session_launcher_bytes(uint64_t nodes, uint64_t procs,
                                   uint64_t adopted)
{
    if (adopted > ADOPTED_MAX)
        adopted = ADOPTED_MAX;
    return BASE_BYTES + nodes * KNOWN_NODE_BYTES + procs * KNOWN_PROC_BYTES +
           adopted * ADOPTED_BYTES;
}

uint64_t ep_session_daemon_bytes(uint64_t nodes, uint64_t procs)
{
    return BASE_BYTES + (nodes - 1) * NODE_BYTES + procs * PROC_BYTES;
}

int ep_session_pack(struct ep_boot_config *config,
                    const struct ep_session_sizes *sizes, uint32_t inputs)
{
    int rc;

    config->frame_bytes = sizes->frame_bytes;
    config->up_window_bytes = sizes->up_window_bytes;
    config->down_window_frames = sizes->down_frames;
    rc = ep_boot_add_param(config, "posted_receives", sizes->posted_receives);
    if (rc == 0)
        rc = ep_boot_add_param(config, "up_frames", sizes->up_frames);
    if (rc == 0)
        rc = ep_boot_add_param(config, "standing", sizes->standing);
    if (rc == 0)
        rc = ep_boot_add_param(config, "lent", sizes->lent);
    if (rc == 0)
        rc = ep_boot_add_param(config, "inputs", inputs);
    return rc;
}

uint32_t ep_session_inputs(const struct ep_boot_config *config)
{
    return (uint32_t)ep_boot_param(config, "inputs", 1);
}

/* Links that are accepted with all their receives: of one node as many as may
 * send unasked, of several as many as are planned. */
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
    cfg->control_frames = CONTROL_FRAMES;
    cfg->streams_max = 1 + JOB_STREAM_PUSHED;
    cfg->up_frames = (uint16_t)ep_boot_param(config, "up_frames", UP_FRAMES);
    cfg->standing_max =
        (uint16_t)ep_boot_param(config, "standing", cfg->standing_max);
    cfg->lent_frames = (uint16_t)ep_boot_param(config, "lent", LENT_FRAMES);
    ov_times_set(&cfg->times, (uint64_t)config->heartbeat_ms * 1000000);
    if (cfg->times.launch_ns < launch_ns)
        cfg->times.launch_ns = launch_ns;
    /* The root has no processes. */
    hub->inputs = hub->nodes[0] == 0 ? 1 : (uint16_t)ep_session_inputs(config);
    hub->transport = (struct ep_transport_cfg){
        .provider = config->provider,
        .interface = config->interface,
        .is_local = config->launcher == EP_LAUNCHER_LOCAL,
        .port_first = config->port_first,
        .port_last = config->port_last,
        .frame_bytes = cfg->frame_bytes,
        .posted_receives =
            (uint16_t)ep_boot_param(config, "posted_receives", POSTED_RECEIVES),
        .accepted_full = accepted_full(hub),
        .send_slots = cfg->send_slots,
        .unproved_ms = 5000,
    };
    if (ov_cfg_check(cfg, &fault) == 0)
        return 0;
    snprintf(why, EP_WHY_MAX, "sizes or times do not fit together: %s", fault);
    return OV_EINVAL;
}

/* Links to orphans that a process may come to have beside those of the plan:
 * the root takes everybody, others as many as they have children. And what
 * processes of further jobs have, which is less than two for each input. */
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

uint64_t ep_session_descriptors(struct topo_tree tree, uint32_t nodes,
                                uint32_t per_node)
{
    uint64_t children = ep_session_children(tree);
    uint64_t links = nodes == 1 ? children + 1 : 2 * (uint64_t)nodes + children;

    /* One for a link, three for 64 of them, the rest for the loop, the fabric,
     * the spawner. */
    return links + 3 * (links / 64 + 1) + (uint64_t)nodes * per_node + 64;
}
