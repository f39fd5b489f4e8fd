/* Parsing the command line of `xylem sim`, with argp. */
#include "commands/sim_options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/units.h"
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
    KEY_FAR_LATENCY,
    KEY_FAR_BANDWIDTH,
    KEY_SLOW_NODE,
    KEY_FAIL,
    KEY_HEARTBEAT,
    KEY_SEED,
    KEY_RUNS,
    KEY_LIMIT,
};

// clang-format off
static const struct argp_option argp_options[] = {
    {.doc = "The tree and the job:", .group = 1},
    {"nodes", 'N', "N", 0, "nodes, the launcher's included (default: 1024)", 1},
    {"arity", KEY_ARITY, "K", 0, "children per node (default: 16)", 1},
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
    {"console-stuck", KEY_CONSOLE_STUCK, "TIME", 0,
     "the console takes nothing from then on", 1},
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
    {"far-latency", KEY_FAR_LATENCY, "TIME", 0,
     "across switches (default: as --latency)", 2},
    {"far-bandwidth", KEY_FAR_BANDWIDTH, "RATE", 0,
     "across switches (default: as --bandwidth)", 2},
    {.doc = "What goes wrong:", .group = 3},
    {"slow-node", KEY_SLOW_NODE, "NODE:FACTOR", 0,
     "a node whose processor and port are slower (repeatable)", 3},
    {"fail", KEY_FAIL, "KIND@TIME[+LENGTH]:NODE", 0,
     "kill, cut, deaf, mute, silence, freeze, refuse; TIME after the start, "
     "for LENGTH or for good (repeatable)", 3},
    {"heartbeat", KEY_HEARTBEAT, "TIME", 0,
     "a neighbour silent for so long is lost (default: 10s)", 3},
    {.doc = "The run:", .group = 4},
    {"seed", KEY_SEED, "S", 0, "of all chance (default: 1)", 4},
    {"runs", KEY_RUNS, "R", 0, "so many runs, each with the next seed", 4},
    {"limit", KEY_LIMIT, "TIME", 0,
     "stop after so much virtual time (default: 1h)", 4},
    {0},
};
// clang-format on

enum workload { BROADCAST, GATHER, LINES, MIXED, WORKLOADS };

/* What options say that is put together at the end. */
struct words {
    struct sim_options *options;
    enum workload workload;
    uint64_t size_bytes;
    uint64_t out_bytes;
    bool has_output;
    bool has_far_latency, has_far_bandwidth;
};

static _Noreturn void __attribute__((format(printf, 1, 2)))
usage(const char *format, ...)
{
    va_list args;

    fputs("xylem: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nTry `xylem sim --help' for the options.\n", stderr);
    exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t min,
                       uint64_t max)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value < min || value > max)
        usage("%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
              option, min, max, text);
    return value;
}

static uint64_t bytes(const char *option, const char *text)
{
    uint64_t value;

    if (!units_bytes(text, &value))
        usage("%s takes a number of bytes as 64K, 1M or 1.5GiB, not '%s'",
              option, text);
    return value;
}

static uint64_t time_of(const char *option, const char *text)
{
    uint64_t value;

    if (!units_time(text, &value))
        usage("%s takes a time as 500ns, 2us, 1.5ms or 10s, not '%s'", option,
              text);
    return value;
}

static uint64_t rate(const char *option, const char *text)
{
    uint64_t value;

    if (!units_rate(text, &value) || value < SIM_RATE_LEAST)
        usage("%s takes a rate of at least 1024 bytes a second as 100MB, "
              "12.5GB or 10Gbit, not '%s'",
              option, text);
    return value;
}

static enum workload workload(const char *text)
{
    static const char *const names[WORKLOADS] = {"broadcast", "gather", "lines",
                                                 "mixed"};

    for (unsigned i = 0; i < WORKLOADS; i++) {
        if (strcmp(text, names[i]) == 0)
            return (enum workload)i;
    }
    usage("--workload takes broadcast, gather, lines or mixed, not '%s'", text);
}

/* --- lists */

static struct sim_fault *add_fault(struct sim_options *o)
{
    struct sim_fault *fault;

    if (o->cfg.faults_count == SIM_FAULTS_MAX)
        usage("there can be %d faults", SIM_FAULTS_MAX);
    o->faults =
        reallocarray(o->faults, o->cfg.faults_count + 1, sizeof(*o->faults));
    if (o->faults == NULL)
        usage("there is no memory for a fault");
    fault = &o->faults[o->cfg.faults_count++];
    *fault = (struct sim_fault){.length_ns = SIM_NEVER, .factor = 1};
    return fault;
}

/* Cuts text at the first of `ch`; returns what follows, or NULL. */
static char *cut(char *text, char ch)
{
    char *at = strchr(text, ch);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static void slow_node(const char *text, struct sim_options *o)
{
    char *node = strdup(text), *factor = cut(node, ':');
    struct sim_fault *fault = add_fault(o);

    if (factor == NULL)
        usage("--slow-node takes NODE:FACTOR as 5:10, not '%s'", text);
    fault->kind = SIM_FAULT_SLOW;
    fault->node = (uint32_t)number("--slow-node", node, 1, UINT32_MAX - 1);
    fault->factor = (uint32_t)number("--slow-node", factor, 1, 1000000);
    free(node);
}

static void fail(const char *text, struct sim_options *o)
{
    char *kind = strdup(text), *time = cut(kind, '@');
    char *node = time == NULL ? NULL : cut(time, ':');
    char *length = time == NULL ? NULL : cut(time, '+');
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
        usage("--fail knows kill, cut, deaf, mute, silence, freeze and refuse, "
              "not '%s'",
              kind);
    fault->at_ns = time_of("--fail", time);
    if (length != NULL)
        fault->length_ns = time_of("--fail", length);
    fault->node = (uint32_t)number("--fail", node, 1, UINT32_MAX - 1);
    free(kind);
}

static void reader(char *text, struct sim_options *o)
{
    char *how = cut(text, ':');
    struct sim_reader *r;

    if (how == NULL)
        usage("--readers takes RANK:HOW as 5:never or 5:10MB, not '%s'", text);
    if (o->cfg.job.readers_count == SIM_READERS_MAX)
        usage("--readers takes %d ranks at most", SIM_READERS_MAX);
    r = &o->readers[o->cfg.job.readers_count++];
    r->node = (uint32_t)number("--readers", text, 0, UINT32_MAX - 2) + 1;
    if (strcmp(how, "never") == 0) {
        r->kind = SIM_READER_NEVER;
    } else if (strncmp(how, "pause@", 6) == 0) {
        char *at = how + 6, *length = cut(at, '+');

        if (length == NULL)
            usage("--readers takes RANK:pause@TIME+LENGTH, not '%s'", how);
        r->kind = SIM_READER_PAUSE;
        r->at_ns = time_of("--readers", at);
        r->length_ns = time_of("--readers", length);
    } else if (strncmp(how, "close@", 6) == 0) {
        r->kind = SIM_READER_CLOSE;
        r->at_ns = time_of("--readers", how + 6);
    } else {
        r->kind = SIM_READER_RATE;
        r->rate = rate("--readers", how);
    }
}

static int by_node(const void *a, const void *b)
{
    const struct sim_reader *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

static void readers(const char *text, struct sim_options *o)
{
    char *list = strdup(text), *save = NULL;

    if (o->readers == NULL)
        o->readers = calloc(SIM_READERS_MAX, sizeof(*o->readers));
    if (list == NULL || o->readers == NULL)
        usage("there is no memory for the readers");
    for (char *word = strtok_r(list, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (strcmp(word, "all") != 0)
            reader(word, o);
    }
    qsort(o->readers, o->cfg.job.readers_count, sizeof(*o->readers), by_node);
    free(list);
}

/* --- options */

static bool parse_job(int key, const char *arg, struct words *words)
{
    struct sim_options *o = words->options;
    struct ov_cfg *overlay = &o->cfg.overlay;
    struct sim_job *job = &o->cfg.job;

    switch (key) {
    case 'N':
        overlay->plan.nodes = (uint32_t)number("--nodes", arg, 2, 10000000);
        return true;
    case KEY_ARITY:
        overlay->plan.arity =
            (uint32_t)number("--arity", arg, 1, TOPO_ARITY_MAX);
        return true;
    case KEY_WORKLOAD:
        words->workload = workload(arg);
        return true;
    case KEY_SIZE:
        words->size_bytes = bytes("--size", arg);
        return true;
    case KEY_OUTPUT:
        words->out_bytes = bytes("--output", arg);
        words->has_output = true;
        return true;
    case KEY_LINE:
        job->line_bytes = (uint32_t)number("--line", arg, 1, UINT32_MAX);
        return true;
    case KEY_EVERY:
        job->every_ns = time_of("--every", arg);
        return true;
    case KEY_FRAME:
        overlay->frame_bytes = (uint32_t)bytes("--frame", arg);
        return true;
    case KEY_WINDOW:
        overlay->down_frames = (uint16_t)number("--window", arg, 2, 1024);
        return true;
    case KEY_READERS:
        readers(arg, o);
        return true;
    default:
        return false;
    }
}

static bool parse_rates(int key, const char *arg, struct sim_job *job)
{
    switch (key) {
    case KEY_READ_RATE:
        job->read_rate = rate("--read-rate", arg);
        return true;
    case KEY_STDIN_RATE:
        job->stdin_rate = rate("--stdin-rate", arg);
        return true;
    case KEY_CONSOLE_RATE:
        job->console_rate = rate("--console-rate", arg);
        return true;
    case KEY_CONSOLE_STUCK:
        job->console_stuck_ns = time_of("--console-stuck", arg);
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
        network->near.latency_ns = time_of("--latency", arg);
        return true;
    case KEY_BANDWIDTH:
        network->near.bandwidth = rate("--bandwidth", arg);
        return true;
    case KEY_OVERHEAD:
        network->overhead_ns = time_of("--overhead", arg);
        return true;
    case KEY_JITTER:
        network->jitter_ns = time_of("--jitter", arg);
        return true;
    case KEY_SWITCH:
        network->switch_nodes =
            (uint32_t)number("--switch", arg, 1, UINT32_MAX);
        return true;
    case KEY_FAR_LATENCY:
        network->far.latency_ns = time_of("--far-latency", arg);
        words->has_far_latency = true;
        return true;
    case KEY_FAR_BANDWIDTH:
        network->far.bandwidth = rate("--far-bandwidth", arg);
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
        slow_node(arg, o);
        return true;
    case KEY_FAIL:
        fail(arg, o);
        return true;
    case KEY_HEARTBEAT:
        ov_cfg_heartbeat(&o->cfg.overlay, time_of("--heartbeat", arg));
        return true;
    case KEY_SEED:
        o->cfg.seed = number("--seed", arg, 0, UINT64_MAX);
        return true;
    case KEY_RUNS:
        o->runs = (uint32_t)number("--runs", arg, 1, UINT32_MAX);
        return true;
    case KEY_LIMIT:
        o->cfg.limit_ns = time_of("--limit", arg);
        return true;
    default:
        return false;
    }
}

/* Puts the words together and checks the whole. */
static void finish(struct words *words)
{
    struct sim_options *o = words->options;
    struct sim_cfg *cfg = &o->cfg;
    struct sim_job *job = &cfg->job;
    const char *why;

    job->has_stdin = words->workload == BROADCAST || words->workload == MIXED;
    job->stdin_bytes = job->has_stdin ? words->size_bytes : 0;
    if (words->workload == GATHER || words->workload == MIXED)
        job->out_bytes = words->size_bytes;
    if (words->workload == LINES)
        job->out_bytes = job->line_bytes;
    if (words->has_output)
        job->out_bytes = words->out_bytes;
    if (!words->has_far_latency)
        cfg->network.far.latency_ns = cfg->network.near.latency_ns;
    if (!words->has_far_bandwidth)
        cfg->network.far.bandwidth = cfg->network.near.bandwidth;
    cfg->overlay.children_max = (uint16_t)(2 * cfg->overlay.plan.arity);
    if (cfg->overlay.up_window_bytes <
        cfg->overlay.frame_bytes + OV_RESERVE_BYTES)
        cfg->overlay.up_window_bytes = 4 * cfg->overlay.frame_bytes;
    job->readers = o->readers;
    cfg->faults = o->faults;
    if (sim_cfg_check(cfg, &why))
        usage("this cannot be simulated: %s", why);
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
        usage("there is nothing to do with '%s': all is said by options", arg);
    case ARGP_KEY_END:
        finish(words);
        return 0;
    default:
        break;
    }
    if (parse_job(key, arg, words) ||
        parse_rates(key, arg, &words->options->cfg.job) ||
        parse_machine(key, arg, words) || parse_run(key, arg, words->options))
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
    struct words words = {.options = options, .size_bytes = 1 << 20};

    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    argv[0] = name;
    *options = (struct sim_options){
        .cfg = sim_cfg_default((struct topo_tree){1024, 16}), .runs = 1};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &words);
}
