/* Parsing the command line of `xylem sim`, with argp. */
#include "commands/sim_options.h"

#include <argp.h>
#include <string.h>

#include "commands/sim_lists.h"
#include "commands/sim_values.h"
#include "config.h"

enum key {
    KEY_ARITY = 256,
    KEY_WORKLOAD,
    KEY_SIZE,
    KEY_OUTPUT,
    KEY_LINE,
    KEY_EVERY,
    KEY_FRAME,
    KEY_WINDOW,
    KEY_READERS,
    KEY_READ_RATE,
    KEY_STDIN_RATE,
    KEY_CONSOLE_RATE,
    KEY_CONSOLE_STUCK,
    KEY_LATENCY,
    KEY_BANDWIDTH,
    KEY_OVERHEAD,
    KEY_JITTER,
    KEY_SWITCH,
    KEY_TOPOLOGY,
    KEY_FAR_LATENCY,
    KEY_FAR_BANDWIDTH,
    KEY_SLOW_NODE,
    KEY_FAIL,
    KEY_ON_NODE_LOSS,
    KEY_HEARTBEAT,
    KEY_SEED,
    KEY_RUNS,
    KEY_LIMIT,
    KEY_REAL_LIMIT,
    KEY_SWEEP,
    KEY_JSON,
    KEY_PLOT,
};

// clang-format off
static const struct argp_option argp_options[] = {
    {.doc = "The tree and the job:", .group = 1},
    {"nodes", 'N', "N", 0,
     "nodes, the launcher's included (default: those of --topology, or 1024)",
     1},
    {"arity", KEY_ARITY, "K", 0,
     "children per node, or auto: as `xylem run' takes it (default: 16)", 1},
    {"workload", KEY_WORKLOAD, "W", 0,
     "broadcast (stdin to everybody), gather (output of everybody), lines (one "
     "line of everybody), mixed (broadcast and gather) (default: broadcast)",
     1},
    {"size", KEY_SIZE, "BYTES", 0,
     "of stdin, or of each process's output (default: 1M)", 1},
    {"output", KEY_OUTPUT, "BYTES", 0,
     "of each process, where that is not --size", 1},
    {"line", KEY_LINE, "BYTES", 0, "length of output lines (default: 64)", 1},
    {"every", KEY_EVERY, "TIME", 0,
     "a process writes a line so often (default: as fast as it can)", 1},
    {"stdin-rate", KEY_STDIN_RATE, "RATE", 0,
     "stdin comes so fast (default: at once)", 1},
    {"readers", KEY_READERS, "LIST", 0,
     "readers that are not like the others: RANK:never, RANK:RATE, "
     "RANK:pause@TIME+LENGTH, RANK:close@TIME", 1},
    {"read-rate", KEY_READ_RATE, "RATE", 0,
     "each process reads so fast (default: at once)", 1},
    {"console-rate", KEY_CONSOLE_RATE, "RATE", 0,
     "the launcher's console takes so much (default: all)", 1},
    {"console-stuck", KEY_CONSOLE_STUCK, "TIME[+LENGTH]", 0,
     "the console takes nothing from then on, for LENGTH or for good", 1},
    {"frame", KEY_FRAME, "BYTES", 0, "largest frame (default: 64K)", 1},
    {"window", KEY_WINDOW, "FRAMES", 0,
     "frames of stdin that a node keeps (default: 16)", 1},
    {.doc = "The machine:", .group = 2},
    {"latency", KEY_LATENCY, "TIME", 0, "of a link (default: 2us)", 2},
    {"bandwidth", KEY_BANDWIDTH, "RATE", 0,
     "of a port, each way (default: 12.5GB)", 2},
    {"overhead", KEY_OVERHEAD, "TIME", 0,
     "of a message, at each end (default: 500ns)", 2},
    {"jitter", KEY_JITTER, "TIME", 0,
     "up to so much more latency, at random (default: 0)", 2},
    {"switch", KEY_SWITCH, "NODES", 0,
     "nodes on one switch (default: all on one)", 2},
    {"topology", KEY_TOPOLOGY, "FILE", 0,
     "which host is under which switch, as with `xylem run': its hosts are the "
     "nodes, and the tree goes by switches", 2},
    {"far-latency", KEY_FAR_LATENCY, "TIME", 0,
     "across switches (default: as --latency)", 2},
    {"far-bandwidth", KEY_FAR_BANDWIDTH, "RATE", 0,
     "across switches (default: as --bandwidth)", 2},
    {.doc = "What goes wrong:", .group = 3},
    {"slow-node", KEY_SLOW_NODE, "NODE:FACTOR", 0,
     "a node whose processor and port are slower (repeatable)", 3},
    {"fail", KEY_FAIL, "KIND@TIME[+LENGTH]:NODE[-ABOVE]", 0,
     "kill, reset, cut, deaf, mute, silence, freeze, refuse, reject, "
     "reject-in, reject-out; TIME after the start, for LENGTH or for good; "
     "cut, deaf, mute and reject from all nodes above or from that one "
     "(repeatable)", 3},
    {"on-node-loss", KEY_ON_NODE_LOSS, "WHAT", 0,
     "abort: the loss of a node ends the job; or continue (default: abort)",
     3},
    {"heartbeat", KEY_HEARTBEAT, "TIME", 0,
     "a neighbour silent for so long is lost (default: 10s)", 3},
    {.doc = "The run:", .group = 4},
    {"seed", KEY_SEED, "S", 0, "of all chance (default: 1)", 4},
    {"runs", KEY_RUNS, "R", 0, "so many runs, each with the next seed", 4},
    {"limit", KEY_LIMIT, "TIME", 0,
     "stop after so much virtual time (default: 1h)", 4},
    {"real-limit", KEY_REAL_LIMIT, "TIME", 0,
     "stop a run after so much real time (default: 1h)", 4},
    {"sweep", KEY_SWEEP, "NAME=LIST", 0,
     "a table over arity=2,4,8, size=1K,1M or nodes=100,1000; twice for two of "
     "them", 4},
    {"json", KEY_JSON, "FILE", 0, "write all figures as JSON; - is stdout", 4},
    {"plot", KEY_PLOT, "FILE.svg", 0,
     "draw it, with gnuplot: times of a sweep, or the progress of one run", 4},
    {0},
};
// clang-format on

/* What options say that is put together at the end. */
struct words {
    struct sim_options *options;
    bool has_far_latency, has_far_bandwidth;
};

static enum sim_workload workload(const char *text)
{
    static const char *const names[SIM_WORKLOADS] = {"broadcast", "gather",
                                                     "lines", "mixed"};

    for (unsigned i = 0; i < SIM_WORKLOADS; i++) {
        if (strcmp(text, names[i]) == 0)
            return (enum sim_workload)i;
    }
    sim_usage("--workload takes broadcast, gather, lines or mixed, not '%s'",
              text);
}

/* --- options */

static bool parse_job(int key, const char *arg, struct words *words)
{
    struct sim_options *o = words->options;
    struct ov_cfg *overlay = &o->cfg.overlay;
    struct sim_job *job = &o->cfg.job;

    switch (key) {
    case 'N':
        o->nodes = (uint32_t)sim_number("--nodes", arg, 2, SIM_NODES_MAX);
        return true;
    case KEY_ARITY:
        o->is_auto = strcmp(arg, "auto") == 0;
        if (!o->is_auto)
            o->arity = (uint32_t)sim_number("--arity", arg, 1, TOPO_ARITY_MAX);
        return true;
    case KEY_WORKLOAD:
        o->workload = workload(arg);
        return true;
    case KEY_SIZE:
        o->size_bytes = sim_bytes("--size", arg);
        return true;
    case KEY_OUTPUT:
        o->out_bytes = sim_bytes("--output", arg);
        o->has_output = true;
        return true;
    case KEY_LINE:
        job->line_bytes = (uint32_t)sim_number("--line", arg, 1, UINT32_MAX);
        return true;
    case KEY_EVERY:
        job->every_ns = sim_time("--every", arg);
        return true;
    case KEY_FRAME:
        overlay->frame_bytes = (uint32_t)sim_bytes("--frame", arg);
        return true;
    case KEY_WINDOW:
        overlay->down_frames = (uint16_t)sim_number("--window", arg, 2, 1024);
        return true;
    case KEY_READERS:
        sim_list_readers(arg, o);
        return true;
    default:
        return false;
    }
}

static bool parse_rates(int key, const char *arg, struct sim_job *job)
{
    switch (key) {
    case KEY_READ_RATE:
        job->read_rate = sim_rate("--read-rate", arg);
        return true;
    case KEY_STDIN_RATE:
        job->stdin_rate = sim_rate("--stdin-rate", arg);
        return true;
    case KEY_CONSOLE_RATE:
        job->console_rate = sim_rate("--console-rate", arg);
        return true;
    case KEY_CONSOLE_STUCK:
        sim_list_console_stuck(arg, job);
        return true;
    default:
        return false;
    }
}

static bool parse_machine(int key, const char *arg, struct words *words)
{
    struct sim_network *network = &words->options->cfg.network;

    switch (key) {
    case KEY_LATENCY:
        network->near.latency_ns = sim_time("--latency", arg);
        return true;
    case KEY_BANDWIDTH:
        network->near.bandwidth = sim_rate("--bandwidth", arg);
        return true;
    case KEY_OVERHEAD:
        network->overhead_ns = sim_time("--overhead", arg);
        return true;
    case KEY_JITTER:
        network->jitter_ns = sim_time("--jitter", arg);
        return true;
    case KEY_SWITCH:
        network->switch_nodes =
            (uint32_t)sim_number("--switch", arg, 1, UINT32_MAX);
        return true;
    case KEY_TOPOLOGY:
        sim_fabric_read(&words->options->fabric, arg);
        return true;
    case KEY_FAR_LATENCY:
        network->far.latency_ns = sim_time("--far-latency", arg);
        words->has_far_latency = true;
        return true;
    case KEY_FAR_BANDWIDTH:
        network->far.bandwidth = sim_rate("--far-bandwidth", arg);
        words->has_far_bandwidth = true;
        return true;
    default:
        return false;
    }
}

static bool parse_run(int key, const char *arg, struct sim_options *o)
{
    switch (key) {
    case KEY_SLOW_NODE:
        sim_list_slow_node(arg, o);
        return true;
    case KEY_FAIL:
        sim_list_fail(arg, o);
        return true;
    case KEY_ON_NODE_LOSS:
        o->cfg.job.ends_on_loss = strcmp(arg, "abort") == 0;
        if (!o->cfg.job.ends_on_loss && strcmp(arg, "continue") != 0)
            sim_usage("--on-node-loss takes abort or continue, not '%s'", arg);
        return true;
    case KEY_HEARTBEAT:
        ov_times_set(&o->cfg.overlay.times, sim_time("--heartbeat", arg));
        return true;
    case KEY_SEED:
        o->cfg.seed = sim_number("--seed", arg, 0, UINT64_MAX);
        return true;
    case KEY_RUNS:
        o->runs = (uint32_t)sim_number("--runs", arg, 1, UINT32_MAX);
        return true;
    case KEY_LIMIT:
        o->cfg.limit_ns = sim_time("--limit", arg);
        return true;
    case KEY_REAL_LIMIT:
        o->real_limit_ns = sim_time("--real-limit", arg);
        return true;
    default:
        return false;
    }
}

/* Makes the job of what was said and checks the whole. */
static void settle(struct sim_options *o)
{
    struct sim_cfg *cfg = &o->cfg;
    struct sim_job *job = &cfg->job;
    const char *why;

    job->has_stdin = o->workload == SIM_BROADCAST || o->workload == SIM_MIXED;
    job->stdin_bytes = job->has_stdin ? o->size_bytes : 0;
    job->out_bytes = 0;
    if (o->workload == SIM_GATHER || o->workload == SIM_MIXED)
        job->out_bytes = o->size_bytes;
    if (o->workload == SIM_LINES)
        job->out_bytes = job->line_bytes;
    if (o->has_output)
        job->out_bytes = o->out_bytes;
    sim_fabric_plan(o);
    cfg->overlay.children_max = (uint16_t)(2 * cfg->overlay.plan.arity);
    if (sim_cfg_check(cfg, &why))
        sim_usage("this cannot be simulated: %s", why);
}

static void finish(struct words *words)
{
    struct sim_options *o = words->options;
    struct sim_cfg *cfg = &o->cfg;
    struct ov_cfg *overlay = &cfg->overlay;

    if (!words->has_far_latency)
        cfg->network.far.latency_ns = cfg->network.near.latency_ns;
    if (!words->has_far_bandwidth)
        cfg->network.far.bandwidth = cfg->network.near.bandwidth;
    if (overlay->up_window_bytes < overlay->frame_bytes + OV_RESERVE_BYTES)
        overlay->up_window_bytes = 4 * overlay->frame_bytes;
    cfg->job.readers = o->readers;
    cfg->faults = o->faults;
    cfg->tallies = cfg->faults_count > 0;
    if (cfg->network.switch_nodes > 0 && o->fabric.fabric.hosts.count > 0)
        sim_usage("--switch and --topology both say what is on a switch: give "
                  "one of them");
    if (o->runs > 1 && (o->sweeps_count > 0 || o->plot != NULL))
        sim_usage("--runs goes with one tree: leave out --sweep and --plot");
    settle(o);
}

const char *sim_sweep_name(enum sim_sweep_key key)
{
    static const char *const names[] = {
        [SIM_SWEEP_NODES] = "nodes",
        [SIM_SWEEP_ARITY] = "arity",
        [SIM_SWEEP_SIZE] = "size",
    };

    return names[key];
}

void sim_options_set(struct sim_options *options, enum sim_sweep_key key,
                     uint64_t value)
{
    if (key == SIM_SWEEP_NODES)
        options->nodes = (uint32_t)value;
    else if (key == SIM_SWEEP_ARITY)
        options->arity = (uint32_t)value;
    else
        options->size_bytes = value;
    settle(options);
}

static bool parse_report(int key, const char *arg, struct sim_options *o)
{
    switch (key) {
    case KEY_SWEEP:
        sim_list_sweep(arg, o);
        return true;
    case KEY_JSON:
        o->json = arg;
        return true;
    case KEY_PLOT:
        o->plot = arg;
        return true;
    default:
        return false;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct words *words = state->input;
    static char name[] = "xylem sim";

    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) { /* the word `sim': argp names itself anew */
            state->name = name;
            return 0;
        }
        sim_usage("there is nothing to do with '%s': all is said by options",
                  arg);
    case ARGP_KEY_END:
        finish(words);
        return 0;
    default:
        break;
    }
    if (parse_job(key, arg, words) ||
        parse_rates(key, arg, &words->options->cfg.job) ||
        parse_machine(key, arg, words) || parse_run(key, arg, words->options) ||
        parse_report(key, arg, words->options))
        return 0;
    return ARGP_ERR_UNKNOWN;
}

void sim_options_parse(int argc, char **argv, struct sim_options *options)
{
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .doc = "See how a tree of many nodes carries a job: the code of `xylem "
               "run' in virtual time, on a model of a machine.",
    };
    static char name[] = "xylem";
    struct words words = {.options = options};

    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    argv[0] = name;
    *options = (struct sim_options){.cfg = sim_cfg_default((struct topo_tree){
                                        .nodes = SIM_NODES, .arity = 16}),
                                    .arity = 16,
                                    .size_bytes = 1 << 20,
                                    .runs = 1,
                                    .real_limit_ns = UINT64_C(3600000000000)};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &words);
}
