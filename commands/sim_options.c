/* Parses the command line of `xylem sim'. */
#include "commands/sim_options.h"

#include <stdlib.h>
#include <string.h>

#include "commands/options.h"
#include "commands/refuse.h"
#include "commands/values.h"

#define OPTION_INTO struct sim_options

/* The largest size for a field of 32 bits. */
enum { FIELD_BYTES_MAX = 1 << 30 };

_Static_assert(VALUE_RATE_LEAST == SIM_RATE_LEAST, "rates that sim/ takes");

/* --- plain values */

static void read_arity(const char *text, void *into)
{
    struct sim_options *o = into;

    o->is_auto = strcmp(text, "auto") == 0;
    if (!o->is_auto)
        o->arity = (uint32_t)value_number("--arity", text, 1, TOPO_ARITY_MAX);
}

static void read_workload(const char *text, void *into)
{
    struct sim_options *o = into;
    static const char *const names[SIM_WORKLOADS] = {"broadcast", "gather",
                                                     "lines", "mixed"};

    for (unsigned i = 0; i < SIM_WORKLOADS; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        o->workload = (enum sim_workload)i;
        return;
    }
    usage("--workload takes broadcast, gather, lines or mixed, not '%s'", text);
}

static void read_odd(const char *text, void *into)
{
    struct sim_options *o = into;

    o->cfg.job.odd =
        (uint32_t)value_number("--odd", text, 0, SIM_NODES_MAX - 2) + 1;
}

static void read_topology(const char *text, void *into)
{
    struct sim_options *o = into;

    sim_fabric_read(&o->fabric, text);
}

static void read_on_node_loss(const char *text, void *into)
{
    struct sim_options *o = into;

    o->cfg.job.ends_on_loss = strcmp(text, "abort") == 0;
    if (!o->cfg.job.ends_on_loss && strcmp(text, "continue") != 0)
        usage("--on-node-loss takes abort or continue, not '%s'", text);
}

static void read_heartbeat(const char *text, void *into)
{
    struct sim_options *o = into;

    ov_times_set(&o->cfg.overlay.times, value_time("--heartbeat", text));
}

/* --- faults and readers */

static struct sim_fault *add_fault(struct sim_options *o)
{
    struct sim_fault *fault;

    if (o->cfg.faults_count == SIM_FAULTS_MAX)
        usage("--fail and --slow-node may be given %d times at most",
              SIM_FAULTS_MAX);
    o->faults =
        reallocarray(o->faults, o->cfg.faults_count + 1, sizeof(*o->faults));
    if (o->faults == NULL)
        usage("out of memory for --fail and --slow-node");
    fault = &o->faults[o->cfg.faults_count++];
    *fault = (struct sim_fault){
        .length_ns = SIM_NEVER, .peer = TOPO_NONE, .factor = 1};
    return fault;
}

/* Cuts text at the first `ch`; returns what follows, or NULL. */
static char *cut(char *text, char ch)
{
    char *at = strchr(text, ch);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static void read_slow_node(const char *text, void *into)
{
    struct sim_options *o = into;
    char *node = strdup(text), *factor = cut(node, ':');
    struct sim_fault *fault = add_fault(o);

    if (factor == NULL)
        usage("--slow-node takes NODE:FACTOR as 5:10, not '%s'", text);
    fault->kind = SIM_FAULT_SLOW;
    fault->node =
        (uint32_t)value_number("--slow-node", node, 1, UINT32_MAX - 1);
    fault->factor =
        (uint32_t)value_number("--slow-node", factor, 1, SIM_SLOW_MAX);
    free(node);
}

static void read_fail(const char *text, void *into)
{
    struct sim_options *o = into;
    char *kind = strdup(text), *time = cut(kind, '@');
    char *node = time == NULL ? NULL : cut(time, ':');
    char *length = time == NULL ? NULL : cut(time, '+'), *above;
    struct sim_fault *fault = add_fault(o);

    if (node == NULL)
        usage("--fail takes KIND@TIME:NODE as kill@5ms:3, not '%s'", text);
    fault->kind = SIM_FAULT_KINDS;
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++) {
        if (i != SIM_FAULT_SLOW &&
            strcmp(kind, sim_fault_name((enum sim_fault_kind)i)) == 0)
            fault->kind = (uint8_t)i;
    }
    if (fault->kind == SIM_FAULT_KINDS)
        usage("--fail knows kill, reset, cut, deaf, mute, silence, freeze, "
              "refuse, reject, reject-in and reject-out, not '%s'",
              kind);
    fault->at_ns = value_time("--fail", time);
    if (length != NULL)
        fault->length_ns = value_time("--fail", length);
    above = cut(node, '-');
    if (above != NULL) {
        if (!sim_fault_is_between((enum sim_fault_kind)fault->kind))
            usage("--fail takes NODE-ABOVE for cut, deaf, mute and reject, "
                  "not for %s",
                  kind);
        fault->peer =
            (uint32_t)value_number("--fail", above, 0, UINT32_MAX - 1);
    }
    fault->node = (uint32_t)value_number("--fail", node, 1, UINT32_MAX - 1);
    free(kind);
}

static void read_console_stuck(const char *text, void *into)
{
    struct sim_options *o = into;
    struct sim_job *job = &o->cfg.job;
    char *time = strdup(text), *length = cut(time, '+');

    job->console_stuck_ns = value_time("--console-stuck", time);
    if (length != NULL)
        job->console_length_ns = value_time("--console-stuck", length);
    free(time);
}

static void read_reader(char *text, struct sim_options *o)
{
    char *how = cut(text, ':');
    struct sim_reader *r;

    if (how == NULL)
        usage("--readers takes RANK:HOW as 5:never or 5:10MB, not '%s'", text);
    if (o->cfg.job.readers_count == SIM_READERS_MAX)
        usage("--readers takes %d ranks at most", SIM_READERS_MAX);
    r = &o->readers[o->cfg.job.readers_count++];
    r->node = (uint32_t)value_number("--readers", text, 0, UINT32_MAX - 2) + 1;
    if (strcmp(how, "never") == 0) {
        r->kind = SIM_READER_NEVER;
    } else if (strncmp(how, "pause@", 6) == 0) {
        char *at = how + 6, *length = cut(at, '+');

        if (length == NULL)
            usage("--readers takes RANK:pause@TIME+LENGTH, not '%s'", how);
        r->kind = SIM_READER_PAUSE;
        r->at_ns = value_time("--readers", at);
        r->length_ns = value_time("--readers", length);
    } else if (strncmp(how, "close@", 6) == 0) {
        r->kind = SIM_READER_CLOSE;
        r->at_ns = value_time("--readers", how + 6);
    } else {
        r->kind = SIM_READER_RATE;
        r->rate = value_rate("--readers", how);
    }
}

static int by_node(const void *a, const void *b)
{
    const struct sim_reader *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

static void read_readers(const char *text, void *into)
{
    struct sim_options *o = into;
    char *list = strdup(text), *save = NULL;

    if (o->readers == NULL)
        o->readers = calloc(SIM_READERS_MAX, sizeof(*o->readers));
    if (list == NULL || o->readers == NULL)
        usage("out of memory for --readers");
    for (char *word = strtok_r(list, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (strcmp(word, "all") != 0)
            read_reader(word, o);
    }
    qsort(o->readers, o->cfg.job.readers_count, sizeof(*o->readers), by_node);
    free(list);
}

/* --- sweeps */

const char *sim_sweep_name(enum sim_sweep_key key)
{
    static const char *const names[] = {
        [SIM_SWEEP_NODES] = "nodes",
        [SIM_SWEEP_ARITY] = "arity",
        [SIM_SWEEP_SIZE] = "size",
    };

    return names[key];
}

static uint64_t sweep_value(enum sim_sweep_key key, const char *text)
{
    if (key == SIM_SWEEP_NODES)
        return value_number("--sweep nodes", text, 2, SIM_NODES_MAX);
    if (key == SIM_SWEEP_ARITY)
        return value_number("--sweep arity", text, 1, TOPO_ARITY_MAX);
    return value_bytes("--sweep size", text, 0, INT64_MAX);
}

static void read_sweep(const char *text, void *into)
{
    struct sim_options *o = into;
    char *key = strdup(text), *list = cut(key, '='), *save = NULL;
    struct sim_sweep *s;
    unsigned k = SIM_SWEEP_NODES;

    while (list != NULL && k <= SIM_SWEEP_SIZE &&
           strcmp(key, sim_sweep_name((enum sim_sweep_key)k)) != 0)
        k++;
    if (list == NULL || k > SIM_SWEEP_SIZE)
        usage("--sweep takes arity=, size= or nodes= and a list as "
              "arity=2,4,8, not '%s'",
              text);
    if (o->sweeps_count == SIM_SWEEPS_MAX ||
        (o->sweeps_count == 1 && o->sweeps[0].key == (enum sim_sweep_key)k))
        usage(
            "--sweep can be given at most twice, each time for another option");
    s = &o->sweeps[o->sweeps_count++];
    s->key = (enum sim_sweep_key)k;
    for (char *word = strtok_r(list, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (s->count == SIM_SWEEP_VALUES)
            usage("--sweep takes %d values at most", SIM_SWEEP_VALUES);
        s->values[s->count++] = sweep_value(s->key, word);
    }
    if (s->count == 0)
        usage("--sweep has no values: '%s'", text);
    free(key);
}

/* --- the options */

// clang-format off
static const struct option_row rows[] = {
    {.doc = "The tree and the job:"},
    {"nodes", 'N', "N",
     "nodes, the launcher's included (default: those of --topology, or 1024)",
     0, NUMBER(nodes, 2, SIM_NODES_MAX)},
    {"arity", 0, "K",
     "children per node, or auto: as `xylem run' takes it (default: 16)",
     0, READ(read_arity)},
    {"workload", 0, "W",
     "broadcast (stdin to everybody), gather (output of everybody), lines (one "
     "line of everybody), mixed (broadcast and gather) (default: broadcast)",
     0, READ(read_workload)},
    {"size", 0, "BYTES", "of stdin, or of each process's output (default: 1M)",
     0, BYTES(size_bytes, 0, INT64_MAX)},
    {"output", 0, "BYTES", "of each process, where that is not --size",
     0, BYTES(out_bytes, 0, INT64_MAX)},
    {"line", 0, "BYTES", "length of output lines (default: 64)",
     0, BYTES(cfg.job.line_bytes, 1, FIELD_BYTES_MAX)},
    {"fold", 0, NULL,
     "equal lines are shown once, so they share frames; all processes write "
     "the same",
     0, FLAG(cfg.overlay.folds)},
    {"voices", 0, "N",
     "with --fold: N different outputs, which processes write in turn; 0: each "
     "writes its own (default: 1)",
     0, NUMBER(cfg.job.voices, 0, UINT32_MAX)},
    {"odd", 0, "RANK", "with --fold: this process writes something else",
     0, READ(read_odd)},
    {"every", 0, "TIME",
     "a process writes a line so often (default: as fast as it can)",
     0, TIME(cfg.job.every_ns)},
    {"stdin-rate", 0, "RATE", "stdin comes so fast (default: at once)",
     0, RATE(cfg.job.stdin_rate)},
    {"readers", 0, "LIST",
     "readers that are not like the others: RANK:never, RANK:RATE, "
     "RANK:pause@TIME+LENGTH, RANK:close@TIME",
     0, READ(read_readers)},
    {"read-rate", 0, "RATE", "each process reads so fast (default: at once)",
     0, RATE(cfg.job.read_rate)},
    {"console-rate", 0, "RATE",
     "the launcher's console takes so much (default: all)",
     0, RATE(cfg.job.console_rate)},
    {"console-stuck", 0, "TIME[+LENGTH]",
     "the console takes nothing from then on, for LENGTH or for good",
     0, READ(read_console_stuck)},
    {"frame", 0, "BYTES", "largest frame (default: 64K)",
     0, BYTES(cfg.overlay.frame_bytes, 0, FIELD_BYTES_MAX)},
    {"window", 0, "FRAMES", "frames of stdin that a node keeps (default: 16)",
     0, NUMBER(cfg.overlay.down_frames, 2, 1024)},
    {.doc = "The machine:"},
    {"latency", 0, "TIME", "of a link (default: 2us)",
     0, TIME(cfg.network.near.latency_ns)},
    {"bandwidth", 0, "RATE", "of a port, each way (default: 12.5GB)",
     0, RATE(cfg.network.near.bandwidth)},
    {"overhead", 0, "TIME", "of a message, at each end (default: 500ns)",
     0, TIME(cfg.network.overhead_ns)},
    {"jitter", 0, "TIME", "up to so much more latency, at random (default: 0)",
     0, TIME(cfg.network.jitter_ns)},
    {"switch", 0, "NODES", "nodes on one switch (default: all on one)",
     0, NUMBER(cfg.network.switch_nodes, 1, UINT32_MAX)},
    {"topology", 0, "FILE",
     "which host is under which switch, as with `xylem run': its hosts are the "
     "nodes, and the tree goes by switches",
     0, READ(read_topology)},
    {"far-latency", 0, "TIME", "across switches (default: as --latency)",
     0, TIME(cfg.network.far.latency_ns)},
    {"far-bandwidth", 0, "RATE", "across switches (default: as --bandwidth)",
     0, RATE(cfg.network.far.bandwidth)},
    {.doc = "What goes wrong:"},
    {"slow-node", 0, "NODE:FACTOR",
     "a node whose processor and port are slower (repeatable)",
     0, READ(read_slow_node)},
    {"fail", 0, "KIND@TIME[+LENGTH]:NODE[-ABOVE]",
     "kill, reset, cut, deaf, mute, silence, freeze, refuse, reject, "
     "reject-in, reject-out; TIME after the start, for LENGTH or for good; "
     "cut, deaf, mute and reject from all nodes above or from that one "
     "(repeatable)",
     0, READ(read_fail)},
    {"on-node-loss", 0, "WHAT",
     "abort: the loss of a node ends the job; or continue (default: abort)",
     0, READ(read_on_node_loss)},
    {"heartbeat", 0, "TIME",
     "a neighbour silent for so long is lost (default: 10s)",
     0, READ(read_heartbeat)},
    {.doc = "The run:"},
    {"seed", 0, "S", "of all chance (default: 1)",
     0, NUMBER(cfg.seed, 0, UINT64_MAX)},
    {"runs", 0, "R", "so many runs, each with the next seed",
     0, NUMBER(runs, 1, UINT32_MAX)},
    {"limit", 0, "TIME", "stop after so much virtual time (default: 1h)",
     0, TIME(cfg.limit_ns)},
    {"real-limit", 0, "TIME",
     "stop a run after so much real time (default: 1h)",
     0, TIME(real_limit_ns)},
    {"sweep", 0, "NAME=LIST",
     "a table over arity=2,4,8, size=1K,1M or nodes=100,1000; twice for two of "
     "them",
     0, READ(read_sweep)},
    {"json", 0, "FILE", "write all figures as JSON; - is stdout",
     0, TEXT(json)},
    {"plot", 0, "FILE.svg",
     "draw it, with gnuplot: times of a sweep, or the progress of one run",
     0, TEXT(plot)},
    {0},
};
// clang-format on

/* Completes the job from the options, and checks everything. */
static void settle_job(struct sim_options *o)
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
    if (o->out_bytes != SIM_NEVER)
        job->out_bytes = o->out_bytes;
    sim_fabric_plan(o);
    cfg->overlay.children_max = (uint16_t)(2 * cfg->overlay.plan.arity);
    if (sim_cfg_check(cfg, &why))
        usage("this cannot be simulated: %s", why);
}

static void finish_options(struct sim_options *o)
{
    struct sim_cfg *cfg = &o->cfg;
    struct ov_cfg *overlay = &cfg->overlay;

    if (cfg->network.far.latency_ns == SIM_NEVER)
        cfg->network.far.latency_ns = cfg->network.near.latency_ns;
    if (cfg->network.far.bandwidth == SIM_NEVER)
        cfg->network.far.bandwidth = cfg->network.near.bandwidth;
    if (overlay->up_window_bytes < overlay->frame_bytes + OV_RESERVE_BYTES)
        overlay->up_window_bytes = 4 * overlay->frame_bytes;
    if (overlay->folds)
        overlay->kept_max = OV_KEPT_FOLDED;
    cfg->job.readers = o->readers;
    cfg->faults = o->faults;
    cfg->tallies = cfg->faults_count > 0;
    if (cfg->network.switch_nodes > 0 && o->fabric.fabric.hosts.count > 0)
        usage("--switch and --topology both say what is on a switch: give "
              "one of them");
    if (o->runs > 1 && (o->sweeps_count > 0 || o->plot != NULL))
        usage("--runs repeats the simulation of one tree: leave out --sweep "
              "and --plot");
    settle_job(o);
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
    settle_job(options);
}

void sim_options_parse(int argc, char **argv, struct sim_options *options)
{
    const struct option_table tables[] = {{.rows = rows, .into = options},
                                          {.rows = NULL}};
    const struct option_command command = {
        .name = "xylem sim",
        .doc = "See how a tree of many nodes carries a job: the code of `xylem "
               "run' in virtual time, on a model of a machine.",
        .tables = tables,
    };

    usage_command = "sim";
    *options = (struct sim_options){.cfg = sim_cfg_default((struct topo_tree){
                                        .nodes = SIM_NODES, .arity = 16}),
                                    .arity = 16,
                                    .size_bytes = 1 << 20,
                                    .out_bytes = SIM_NEVER,
                                    .runs = 1,
                                    .real_limit_ns = UINT64_C(3600000000000)};
    options->cfg.network.far = (struct sim_link_model){SIM_NEVER, SIM_NEVER};
    options_parse(argc, argv, &command);
    finish_options(options);
}
