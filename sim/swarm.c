/* Makes random runs. */
#include "sim/swarm.h"

#include <inttypes.h>

#include "overlay/base/panic.h"
#include "sim/random.h"

/* How many lines a process writes at most when it pauses between lines. */
enum { LINES_MAX = 200 };

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

static uint32_t in(struct sim_random *random, uint32_t low, uint32_t high)
{
    return (uint32_t)sim_random_in(random, low, high);
}

static void make_overlay(struct ov_cfg *cfg, struct sim_random *r)
{
    bool is_tight = sim_random_is(r, 30);

    cfg->frame_bytes = is_tight ? 4096 : in(r, 4096, 16384);
    cfg->up_window_bytes =
        cfg->frame_bytes + OV_RESERVE_BYTES + (is_tight ? 0 : in(r, 0, 60000));
    cfg->kept_max = (uint16_t)(is_tight ? OV_KEPT_RESERVE + 1 : in(r, 5, 100));
    cfg->batch_pieces = (uint16_t)in(r, 1, OV_PIECES_MAX);
    cfg->up_frames = (uint16_t)(is_tight ? 1 : in(r, 1, 6));
    cfg->down_frames = (uint16_t)(is_tight ? 2 : in(r, 2, 20));
    cfg->control_frames = (uint16_t)in(r, 2, 6);
    cfg->send_slots = (uint16_t)in(r, 2, 10);
    cfg->data_slots = (uint16_t)in(r, 1, cfg->send_slots - 1u);
    cfg->records_max = is_tight ? 1 : in(r, 1, 200);
    ov_times_set(&cfg->times, in(r, 1, 10) * S);
}

/* Chooses how many children may send without asking, and how many frames the
 * others share: often few. The numbers come from a generator of their own, so
 * that this choice leaves each seed's job as it is. */
static void make_loans(struct ov_cfg *cfg, uint64_t seed)
{
    struct sim_random r = {sim_random_mix(seed ^ UINT64_C(0x10a7))};

    cfg->standing_max =
        (uint16_t)(sim_random_is(&r, 50) ? cfg->plan.arity
                                         : in(&r, 1, 2 * cfg->plan.arity));
    cfg->lent_frames = (uint16_t)(sim_random_is(&r, 30) ? 1 : in(&r, 1, 6));
}

/* Chooses whether equal lines are folded, and how many different outputs there
 * are, also with a generator of their own. */
static void make_folds(struct sim_swarm *swarm, uint64_t seed)
{
    struct sim_random r = {sim_random_mix(seed ^ UINT64_C(0xf01d))};
    struct ov_cfg *overlay = &swarm->cfg.overlay;
    struct sim_job *job = &swarm->cfg.job;

    overlay->folds = sim_random_is(&r, 40);
    if (!overlay->folds)
        return;
    if (sim_random_is(&r, 50))
        overlay->kept_max = (uint16_t)in(&r, 5, OV_KEPT_FOLDED);
    overlay->share_ns = in(&r, 0, 40000) * US;
    job->voices = sim_random_is(&r, 60) ? 1 : in(&r, 0, 5);
    if (sim_random_is(&r, 50))
        job->odd = in(&r, 1, overlay->plan.nodes - 1);
}

static void make_network(struct sim_network *network, struct sim_random *r)
{
    network->near.latency_ns = in(r, 100, 100000);
    network->near.bandwidth = sim_random_in(r, 1000000, UINT64_C(20000000000));
    network->far = network->near;
    network->overhead_ns = in(r, 0, 3000);
    network->jitter_ns = sim_random_is(r, 50) ? 0 : in(r, 1, 1000000);
    network->connect_ns = in(r, 1000, 1000000);
    if (sim_random_is(r, 50)) {
        network->switch_nodes = in(r, 1, 40);
        network->far.latency_ns = 2 * network->near.latency_ns;
    }
}

static uint64_t some_rate(struct sim_random *r)
{
    return sim_random_is(r, 60) ? 0 : sim_random_in(r, 100000, 1000000000);
}

static void make_job(struct sim_job *job, const struct ov_cfg *cfg,
                     struct sim_random *r)
{
    job->has_stdin = sim_random_is(r, 70);
    if (job->has_stdin)
        job->stdin_bytes = in(r, 0, 300000);
    job->stdin_rate = some_rate(r);
    job->read_rate = some_rate(r);
    job->console_rate = some_rate(r);
    if (sim_random_is(r, 80))
        job->out_bytes = in(r, 0, 30000);
    job->line_bytes = in(r, 1, sim_random_is(r, 80) ? 200 : 2048);
    if (job->line_bytes > cfg->frame_bytes / 2)
        job->line_bytes = cfg->frame_bytes / 2;
    job->burst_lines = sim_random_is(r, 70) ? 1 : in(r, 1, 100);
    job->every_ns = sim_random_is(r, 60) ? 0 : in(r, 1, 10000000);
    if (job->every_ns > 0 && job->out_bytes > LINES_MAX * job->line_bytes)
        job->out_bytes = (uint64_t)LINES_MAX * job->line_bytes;
}

static void make_readers(struct sim_swarm *swarm, uint32_t nodes,
                         struct sim_random *r)
{
    struct sim_job *job = &swarm->cfg.job;
    uint32_t node = 0;

    for (uint32_t i = 0; i < SIM_SWARM_READERS; i++) {
        struct sim_reader *reader = &swarm->readers[job->readers_count];

        node += in(r, 1, nodes / 2 + 1);
        if (node >= nodes || sim_random_is(r, 50))
            continue;
        *reader = (struct sim_reader){.node = node,
                                      .rate = in(r, 100000, 10000000),
                                      .at_ns = in(r, 0, 20) * MS,
                                      .length_ns = in(r, 1, 3000) * MS};
        reader->kind = (uint8_t)(sim_random_is(r, 40)   ? SIM_READER_RATE
                                 : sim_random_is(r, 50) ? SIM_READER_PAUSE
                                                        : SIM_READER_CLOSE);
        job->readers_count++;
    }
    job->readers = swarm->readers;
}

/* Chooses which processes read stdin: all, or those on some ranges of nodes. */
static void make_targets(struct sim_swarm *swarm, uint32_t nodes,
                         struct sim_random *r)
{
    struct sim_job *job = &swarm->cfg.job;
    uint32_t first = 0, most = in(r, 1, SIM_SWARM_TARGETS);

    if (!job->has_stdin || sim_random_is(r, 70))
        return;
    while (job->targets_count < most) {
        first += in(r, 1, nodes / 2 + 1);
        if (first >= nodes)
            break;
        struct topo_range *range = &swarm->targets[job->targets_count];

        range->first = first;
        range->last =
            in(r, first,
               nodes - 1 < first + nodes / 4 ? nodes - 1 : first + nodes / 4);
        first = range->last + 1;
        job->targets_count++;
    }
    job->targets = swarm->targets;
}

/* Makes the job slower, so that faults strike while it works. */
static void slow_down(struct sim_job *job, struct sim_random *r)
{
    if (job->has_stdin && sim_random_is(r, 50)) {
        job->stdin_bytes = in(r, 100000, 300000);
        job->stdin_rate = sim_random_in(r, 100000, 10000000);
    }
    if (sim_random_is(r, 25)) {
        job->console_stuck_ns = sim_random_in(r, 0, 50 * MS);
        job->console_length_ns = sim_random_in(r, 1, 20) * S;
    }
    job->ends_on_loss = sim_random_is(r, 15);
}

static struct sim_fate some_fate(struct sim_random *r, uint32_t unstarted,
                                 uint32_t failing)
{
    struct sim_fate fate = {0};

    if (sim_random_is(r, unstarted))
        fate.unstarted = (uint8_t)in(r, 1, 10);
    if (sim_random_is(r, failing))
        fate.failing = (uint8_t)in(r, 1, 60);
    return fate;
}

static struct sim_further some_further(uint32_t nodes, struct sim_random *r)
{
    uint32_t first = in(r, 1, nodes - 1);
    struct sim_further further = {
        .nodes = {first, in(r, first, nodes - 1)},
        .each = sim_random_is(r, 60) ? 1 : in(r, 2, 4),
        .at_ns = sim_random_is(r, 50) ? 0 : in(r, 1, 20000) * US,
        .lasts_ns = in(r, 0, sim_random_is(r, 50) ? 1000 : 300000) * US,
        .kill_ns = SIM_NEVER,
    };

    if (sim_random_is(r, 30)) /* the kill comes mostly while the job starts or
                                 runs */
        further.kill_ns = sim_random_in(r, 0, further.lasts_ns + 2 * MS);
    further.fate = some_fate(r, 25, 50);
    return further;
}

/* Chooses how processes end, and further jobs. The numbers come from a
 * generator of their own, so that this choice leaves the rest of each seed's
 * job as it is. Few processes of the run's own job fail early, so that faults
 * strike while it works. */
static void make_lives(struct sim_swarm *swarm, uint32_t nodes, uint64_t seed)
{
    struct sim_random r = {sim_random_mix(seed ^ UINT64_C(0x11fe))};
    struct sim_job *job = &swarm->cfg.job;

    job->has_words = sim_random_is(&r, 85);
    if (sim_random_is(&r, 5))
        job->kill_ns = in(&r, 0, 50000) * US;
    if (!job->has_words)
        return;
    job->fate = some_fate(&r, 4, 40);
    if (sim_random_is(&r, 50))
        job->further_count = in(&r, 1, SIM_SWARM_FURTHER);
    for (uint32_t i = 0; i < job->further_count; i++)
        swarm->further[i] = some_further(nodes, &r);
    job->further = swarm->further;
}

static struct sim_tool some_tool(struct sim_random *r)
{
    struct sim_tool tool = {0};

    if (sim_random_is(r, 60))
        return tool;
    tool.pushes = in(r, 1, sim_random_is(r, 70) ? 5 : 100);
    tool.push_bytes = in(r, 1, SIM_PUSH_BYTES_MAX);
    tool.at_ns = sim_random_is(r, 50) ? 0 : in(r, 1, 5000) * US;
    tool.every_ns = sim_random_is(r, 50) ? 0 : in(r, 1, 2000) * US;
    return tool;
}

/* Chooses the run's time limit and its tools, also with a generator of their
 * own. */
static void make_tools(struct sim_swarm *swarm, uint64_t seed)
{
    struct sim_random r = {sim_random_mix(seed ^ UINT64_C(0x7001))};
    struct sim_job *job = &swarm->cfg.job;

    if (sim_random_is(&r, 4)) /* the limit is reached while nodes join, or while
                                 the job works */
        job->timeout_ns = in(&r, 0, sim_random_is(&r, 50) ? 1000 : 100000) * US;
    if (job->has_words)
        job->tool = some_tool(&r);
    for (uint32_t i = 0; i < job->further_count; i++)
        swarm->further[i].tool = some_tool(&r);
}

void sim_swarm_make(struct sim_swarm *swarm, uint64_t seed, uint32_t nodes_max)
{
    struct sim_random r = {sim_random_mix(seed)};
    uint32_t nodes = sim_random_is(&r, 10)   ? in(&r, 2, 9)
                     : sim_random_is(&r, 50) ? in(&r, 10, 40)
                                             : in(&r, 10, nodes_max);
    uint32_t arity =
        in(&r, nodes > 100 ? 2 : 1, sim_random_is(&r, 70) ? 4 : 20);
    const char *why;

    *swarm = (struct sim_swarm){.cfg = sim_cfg_default((struct topo_tree){
                                    .nodes = nodes, .arity = arity})};
    swarm->cfg.seed = seed;
    swarm->cfg.limit_ns = 3000 * S;
    swarm->cfg.tallies = true;
    make_overlay(&swarm->cfg.overlay, &r);
    make_loans(&swarm->cfg.overlay, seed);
    make_network(&swarm->cfg.network, &r);
    make_job(&swarm->cfg.job, &swarm->cfg.overlay, &r);
    slow_down(&swarm->cfg.job, &r);
    if (nodes > 300) /* large trees get less output, because the root takes that
                        of all nodes */
        swarm->cfg.job.out_bytes %= 2000;
    make_readers(swarm, nodes, &r);
    make_targets(swarm, nodes, &r);
    make_lives(swarm, nodes, seed);
    make_tools(swarm, seed);
    make_folds(swarm, seed);
    OV_ASSERT(sim_cfg_check(&swarm->cfg, &why) == 0);
}

void sim_swarm_aim(struct sim_swarm *swarm, uint64_t joined_ns, uint64_t end_ns)
{
    struct sim_random r = {sim_random_mix(swarm->cfg.seed ^ ~UINT64_C(0))};
    const char *why;

    if (!sim_random_is(&r, 10))
        sim_strikes_make(&swarm->strikes, &swarm->cfg, joined_ns, end_ns, &r);
    swarm->cfg.faults = swarm->strikes.faults;
    swarm->cfg.faults_count = swarm->strikes.count;
    OV_ASSERT(sim_cfg_check(&swarm->cfg, &why) == 0);
}

static void print_fault(const struct sim_fault *fault, FILE *file)
{
    static const char *const whens[SIM_WHEN_KINDS] = {
        [SIM_WHEN_TIME] = "",           [SIM_WHEN_HELLO] = "hello",
        [SIM_WHEN_ASK] = "ask",         [SIM_WHEN_ANSWER] = "answer",
        [SIM_WHEN_WELCOME] = "welcome",
    };
    static const char *const whoms[SIM_WHOM_KINDS] = {"says", "hears",
                                                      "claims by"};

    fprintf(file, "  %s", sim_fault_name((enum sim_fault_kind)fault->kind));
    if (fault->when == SIM_WHEN_TIME)
        fprintf(file, " node %u at", fault->node);
    else
        fprintf(file, " the one who %s %s %u, after", whoms[fault->whom],
                whens[fault->when], fault->nth);
    fprintf(file, " %" PRIu64 " us", fault->at_ns / US);
    if (fault->length_ns != SIM_NEVER)
        fprintf(file, " for %" PRIu64 " ms", fault->length_ns / MS);
    if (fault->peer != TOPO_NONE)
        fprintf(file, " from node %u", fault->peer);
    fputc('\n', file);
}

static void print_fate(struct sim_fate fate, FILE *file)
{
    fprintf(file, ", %u %% cannot be started, %u %% fail",
            (unsigned)fate.unstarted, (unsigned)fate.failing);
}

static void print_tool(struct sim_tool tool, FILE *file)
{
    if (tool.pushes > 0)
        fprintf(file,
                ", %u pushes of %u bytes after %" PRIu64 " us, every %" PRIu64
                " us",
                tool.pushes, tool.push_bytes, tool.at_ns / US,
                tool.every_ns / US);
}

static void print_kill(uint64_t kill_ns, FILE *file)
{
    if (kill_ns != SIM_NEVER)
        fprintf(file, ", killed after %" PRIu64 " us", kill_ns / US);
    fputc('\n', file);
}

static void print_jobs(const struct sim_job *job, FILE *file)
{
    fprintf(file, "  %s", job->has_words ? "words of all" : "last words only");
    print_fate(job->fate, file);
    print_tool(job->tool, file);
    if (job->timeout_ns != SIM_NEVER)
        fprintf(file, ", ended at %" PRIu64 " us", job->timeout_ns / US);
    print_kill(job->kill_ns, file);
    for (uint32_t i = 0; i < job->further_count; i++) {
        const struct sim_further *further = &job->further[i];

        fprintf(file,
                "  job %u on nodes %u to %u, %u each, after %" PRIu64
                " us, for %" PRIu64 " us",
                i + 1, further->nodes.first, further->nodes.last, further->each,
                further->at_ns / US, further->lasts_ns / US);
        print_fate(further->fate, file);
        print_tool(further->tool, file);
        print_kill(further->kill_ns, file);
    }
}

void sim_swarm_print(const struct sim_swarm *swarm, FILE *file)
{
    const struct sim_cfg *cfg = &swarm->cfg;

    fprintf(file,
            "seed %" PRIu64 ": %u nodes, arity %u, stdin %" PRIu64
            " bytes, output %" PRIu64 " bytes in lines of %u\n",
            cfg->seed, cfg->overlay.plan.nodes, cfg->overlay.plan.arity,
            cfg->job.stdin_bytes, cfg->job.out_bytes, cfg->job.line_bytes);
    fprintf(file, "  heartbeat %" PRIu64 " s%s%s%s\n",
            cfg->overlay.times.heartbeat_ns / S,
            cfg->overlay.folds ? ", lines are folded" : "",
            cfg->job.targets_count > 0 ? ", stdin for some" : "",
            cfg->job.ends_on_loss ? ", a loss ends the job" : "");
    print_jobs(&cfg->job, file);
    for (uint32_t i = 0; i < cfg->faults_count; i++)
        print_fault(&cfg->faults[i], file);
}
