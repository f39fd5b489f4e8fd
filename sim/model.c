/* The default configuration, and the check of a configuration. */
#include "sim/model.h"

#include <stddef.h>

#include "overlay/base/err.h"

#define US UINT64_C(1000)
#define S  UINT64_C(1000000000)

struct sim_cfg sim_cfg_default(struct topo_tree plan)
{
    struct sim_cfg cfg = {
        .overlay = ov_cfg_default(plan),
        .network = {.near = {2 * US, UINT64_C(12500000000)},
                    .far = {2 * US, UINT64_C(12500000000)},
                    .overhead_ns = 500,
                    .connect_ns = 20 * US},
        .job = {.line_bytes = 64,
                .burst_lines = 1,
                .console_stuck_ns = SIM_NEVER,
                .console_length_ns = SIM_NEVER,
                .voices = 1,
                .odd = TOPO_NONE,
                .kill_ns = SIM_NEVER,
                .timeout_ns = SIM_NEVER,
                .ends_on_loss = true},
        .seed = 1,
        .limit_ns = 3600 * S,
    };

    cfg.overlay.streams_max = SIM_STREAMS;
    cfg.overlay.control_frames = 4; /* enough, because the launcher has few
                                       orders */
    return cfg;
}

static const char *network_fault(const struct sim_network *network)
{
    uint64_t slowest = network->near.bandwidth < network->far.bandwidth
                           ? network->near.bandwidth
                           : network->far.bandwidth;

    if (slowest < SIM_RATE_LEAST)
        return "the bandwidth must be at least 1024 bytes a second";
    if (network->near.latency_ns > 1000 * S ||
        network->far.latency_ns > 1000 * S || network->jitter_ns > 1000 * S ||
        network->overhead_ns > 1000 * S || network->connect_ns > 1000 * S)
        return "a time of the network must be at most 1000 seconds";
    return NULL;
}

static bool is_rate(uint64_t rate)
{
    return rate == 0 || rate >= SIM_RATE_LEAST;
}

static const char *fault_of_job(const struct sim_cfg *cfg)
{
    const struct sim_job *job = &cfg->job;

    if (!is_rate(job->stdin_rate) || !is_rate(job->read_rate) ||
        !is_rate(job->console_rate))
        return "a rate must be at least 1024 bytes a second";
    if (job->line_bytes < 1 || job->line_bytes > cfg->overlay.frame_bytes / 2 ||
        job->line_bytes > SIM_PIPE_BYTES / 2)
        return "a line must have at least 1 byte, and at most half a frame "
               "and 32 KiB";
    if (job->burst_lines < 1 || job->burst_lines > 1000000)
        return "a burst must have 1 to 1000000 lines";
    if (job->targets_count > SIM_TARGETS_MAX)
        return "stdin can go to at most 32 ranges of ranks";
    for (uint32_t i = 0; i < job->targets_count; i++) {
        if (job->targets[i].first < 1 ||
            job->targets[i].last >= cfg->overlay.plan.nodes ||
            job->targets[i].first > job->targets[i].last ||
            (i > 0 && job->targets[i].first <= job->targets[i - 1].last))
            return "the ranges of ranks for stdin must ascend, and lie within "
                   "0 "
                   "to nodes - 2";
    }
    for (uint32_t i = 0; i < job->readers_count; i++) {
        if (job->readers[i].node < 1 ||
            job->readers[i].node >= cfg->overlay.plan.nodes)
            return "a reader must be a rank from 0 to nodes - 2";
        if (i > 0 && job->readers[i].node <= job->readers[i - 1].node)
            return "a rank can be named only once among the readers";
        if (job->readers[i].kind == SIM_READER_RATE &&
            job->readers[i].rate < SIM_RATE_LEAST)
            return "a rate must be at least 1024 bytes a second";
    }
    return NULL;
}

static bool is_fate(struct sim_fate fate)
{
    return fate.unstarted <= 100 && fate.failing <= 100;
}

static bool is_tool(struct sim_tool tool)
{
    return tool.pushes <= SIM_PUSHES_MAX &&
           (tool.pushes == 0 ||
            (tool.push_bytes >= 1 && tool.push_bytes <= SIM_PUSH_BYTES_MAX));
}

static const char *fault_of_jobs(const struct sim_cfg *cfg)
{
    const struct sim_job *job = &cfg->job;

    if (job->further_count > SIM_FURTHER_MAX)
        return "there can be at most 4 further jobs";
    if (!job->has_words && (job->further_count > 0 || job->fate.unstarted > 0 ||
                            job->fate.failing > 0 || job->tool.pushes > 0))
        return "has_words must be set for further jobs, pushes and "
               "processes that fail";
    if (!is_tool(job->tool))
        return "a tool can push at most 1000 times, 1 to 1024 bytes each";
    if (!is_fate(job->fate))
        return "at most 100 percent of the processes can fail";
    for (uint32_t i = 0; i < job->further_count; i++) {
        const struct sim_further *further = &job->further[i];

        if (further->nodes.first < 1 ||
            further->nodes.last >= cfg->overlay.plan.nodes ||
            further->nodes.first > further->nodes.last)
            return "the nodes of a further job must be nodes of the tree other "
                   "than the root";
        if (further->each < 1 || further->each > SIM_EACH_MAX)
            return "a further job must have 1 to 16 processes on a node";
        if (!is_fate(further->fate))
            return "at most 100 percent of the processes can fail";
        if (!is_tool(further->tool))
            return "a tool can push at most 1000 times, 1 to 1024 bytes each";
    }
    return NULL;
}

static const char *faults_fault(const struct sim_cfg *cfg)
{
    for (uint32_t i = 0; i < cfg->faults_count; i++) {
        const struct sim_fault *fault = &cfg->faults[i];

        if (fault->node >= cfg->overlay.plan.nodes)
            return "a fault must name a node of the tree";
        if (fault->node == 0 && fault->when == SIM_WHEN_TIME)
            return "a fault must happen to a node other than the root";
        if (fault->peer != TOPO_NONE && fault->peer >= fault->node)
            return "the second node of a fault must be above the first, so its "
                   "number must be lower";
        if (fault->kind == SIM_FAULT_SLOW &&
            (fault->factor < 1 || fault->factor > SIM_SLOW_MAX))
            return "the factor of a slow node must be from 1 to 10000";
    }
    return NULL;
}

int sim_cfg_check(const struct sim_cfg *cfg, const char **why)
{
    if (ov_cfg_check(&cfg->overlay, why))
        return OV_EINVAL;
    *why = network_fault(&cfg->network);
    if (*why == NULL && cfg->overlay.streams_max != SIM_STREAMS)
        *why = "streams_max must be 3: control, stdin and pushes";
    if (*why == NULL && cfg->overlay.plan.nodes < 2)
        *why = "there must be at least two nodes: the launcher and another";
    if (*why == NULL)
        *why = fault_of_job(cfg);
    if (*why == NULL)
        *why = fault_of_jobs(cfg);
    if (*why == NULL)
        *why = faults_fault(cfg);
    return *why == NULL ? 0 : OV_EINVAL;
}

const char *sim_fault_name(enum sim_fault_kind kind)
{
    static const char *const names[SIM_FAULT_KINDS] = {
        [SIM_FAULT_KILL] = "kill",
        [SIM_FAULT_CUT] = "cut",
        [SIM_FAULT_DEAF] = "deaf",
        [SIM_FAULT_MUTE] = "mute",
        [SIM_FAULT_SILENCE] = "silence",
        [SIM_FAULT_FREEZE] = "freeze",
        [SIM_FAULT_SLOW] = "slow",
        [SIM_FAULT_REFUSE] = "refuse",
        [SIM_FAULT_RESET] = "reset",
        [SIM_FAULT_REJECT] = "reject",
        [SIM_FAULT_REJECT_IN] = "reject-in",
        [SIM_FAULT_REJECT_OUT] = "reject-out",
    };

    return kind < SIM_FAULT_KINDS ? names[kind] : "?";
}

bool sim_fault_is_reject(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_REJECT || kind == SIM_FAULT_REJECT_IN ||
           kind == SIM_FAULT_REJECT_OUT;
}

bool sim_fault_is_between(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_CUT || kind == SIM_FAULT_DEAF ||
           kind == SIM_FAULT_MUTE || sim_fault_is_reject(kind);
}
