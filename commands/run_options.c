/* Parsing the command line of `xylem run`, with argp. */
#include "commands/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/output_options.h"
#include "commands/run_pmix.h"
#include "commands/run_programs.h"
#include "commands/run_values.h"
#include "config.h"
#include "topo/tree.h"

enum key {
    KEY_HOSTFILE = 256,
    KEY_PPN,
    KEY_ARITY,
    KEY_TOPOLOGY,
    KEY_MODEL,
    KEY_LAUNCHER,
    KEY_RSH,
    KEY_XYLEMD,
    KEY_NO_TREE_SPAWN,
    KEY_LAUNCH_TIMEOUT,
    KEY_MIN_NODES,
    KEY_NODES_PER_DAEMON,
    KEY_PROVIDER,
    KEY_INTERFACE,
    KEY_PORT_RANGE,
    KEY_HEARTBEAT,
    KEY_INPUT,
    KEY_STDIN_SLOW,
    KEY_KEEP_STDIN,
    KEY_STDDIAG,
    KEY_SPILL_DIR,
    KEY_ENV,
    KEY_ON_NODE_LOSS,
    KEY_TIMEOUT,
    KEY_LINGER,
    KEY_STATS,
    KEY_NO_PMIX,
    KEY_PMIX_ALLOW,
    KEY_PMIX_CACHE,
    KEY_NO_COLON,
    KEY_BIND,
};

// clang-format off
static const struct argp_option argp_options[] = {
    {.doc = "Where:", .group = 1},
    {"hosts", 'w', "LIST", 0, "hosts, as node[001-128],login:4", 1},
    {NULL, 'H', NULL, OPTION_ALIAS, NULL, 1},
    {"hostfile", KEY_HOSTFILE, "FILE", 0,
     "one host per line, slots=N, # comments", 1},
    {"exclude", 'x', "LIST", 0, "hosts to leave out", 1},
    {"nodes", 'N', "N", 0,
     "the first N hosts of the list or allocation; with neither, N virtual "
     "nodes on this machine", 1},
    {"procs", 'n', "N", 0,
     "processes in all, placed by slots (default: one per node)", 1},
    {"ppn", KEY_PPN, "N", 0,
     "processes per node; N:core, N:socket: per core or socket of a node", 1},
    {"arity", KEY_ARITY, "K", 0,
     "children per node of the tree, or auto: by a model of the machine", 1},
    {"model", KEY_MODEL, "FILE", 0, "latency, overhead and bandwidth of it", 1},
    {"topology", KEY_TOPOLOGY, "FILE", 0,
     "which host is under which switch, as Slurm's topology.conf: the tree "
     "crosses switches as rarely as can be", 1},
    {"launcher", KEY_LAUNCHER, "L", 0,
     "local, ssh, slurm or auto (default: slurm inside an allocation of Slurm, "
     "ssh with hosts, else local)", 1},
    {"rsh", KEY_RSH, "CMD", 0,
     "what ssh runs, called as CMD HOST COMMANDLINE (default: "
     "'ssh -o BatchMode=yes')", 1},
    {"xylemd", KEY_XYLEMD, "PATH", 0,
     "the daemon's path on the hosts (default: beside xylem)", 1},
    {"no-tree-spawn", KEY_NO_TREE_SPAWN, NULL, 0,
     "the launcher starts every daemon itself", 1},
    {"launch-timeout", KEY_LAUNCH_TIMEOUT, "SECONDS", 0,
     "wait so long for the daemons (default: 60)", 1},
    {"min-nodes", KEY_MIN_NODES, "M", 0,
     "leave out hosts whose daemons do not come, while M are left", 1},
    {"nodes-per-daemon", KEY_NODES_PER_DAEMON, "N", 0,
     "virtual nodes in one daemon of this machine", 1},
    {"provider", KEY_PROVIDER, "P", 0,
     "libfabric provider: verbs, tcp (default: best present)", 1},
    {"interface", KEY_INTERFACE, "IF", 0,
     "network interface, address, or network as 10.1.0.0/16", 1},
    {"port-range", KEY_PORT_RANGE, "A-B", 0, "listening ports", 1},
    {"heartbeat", KEY_HEARTBEAT, "SECONDS", 0,
     "a daemon silent for so long is left by its neighbours (default: 10)", 1},
    {"env", KEY_ENV, "NAME[=VALUE]", 0,
     "environment for the processes (repeatable)", 1},
    {"chdir", 'D', "DIR", 0,
     "working directory (default: the launcher's, where it exists)", 1},
    {"bind", KEY_BIND, "B", 0,
     "bind processes to a core or socket each, in turn: core, socket or none "
     "(default: none)", 1},
    {"no-colon", KEY_NO_COLON, NULL, 0,
     "a word `:' behind PROGRAM is an argument and begins no other program", 1},
    {.doc = "Input:", .group = 2},
    {"stdin", 'i', "T", 0,
     "who reads stdin: all, none, or a list of ranks as 0,4-7 (default: all)",
     2},
    {"input", KEY_INPUT, "FILE", 0, "read from FILE instead of stdin", 2},
    {"keep-stdin", KEY_KEEP_STDIN, NULL, 0,
     "the end of stdin does not end it for the processes: PMIx tools go on", 2},
    {"stdin-slow", KEY_STDIN_SLOW, "P", 0,
     "what is done for a process that does not read: wait, spill[=BYTES], "
     "close[=SECONDS] (default: wait)", 2},
    {"spill-dir", KEY_SPILL_DIR, "DIR", 0,
     "where nodes spill (default: TMPDIR or /var/tmp, on a disk)", 2},
    {.doc = "Output:", .group = 3},
    OUTPUT_OPTIONS(3)
    {"stddiag", KEY_STDDIAG, NULL, 0,
     "a third channel of output, for diagnostics: the descriptor that "
     "XYLEM_STDDIAG_FD names; it comes out on stderr", 3},
    {.doc = "Ending:", .group = 4},
    {"kill-on-bad-exit", 'K', NULL, 0, "a non-zero exit ends the job", 4},
    {"on-node-loss", KEY_ON_NODE_LOSS, "P", 0,
     "abort: a lost node ends the job; continue: the others go on (default: "
     "abort)", 4},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "end the job after that time (exit code 124)", 4},
    {"linger", KEY_LINGER, "SECONDS", 0,
     "read a process's output so long past its exit (default: 2)", 4},
    {"stats", KEY_STATS, "FILE", 0, "write a report in JSON at the end", 4},
    {"no-pmix", KEY_NO_PMIX, NULL, 0, "PMIx tools cannot connect", 4},
    {"pmix-allow", KEY_PMIX_ALLOW, "USER,...", 0,
     "whose PMIx tools can connect (default: your own and root's)", 4},
    {"pmix-cache", KEY_PMIX_CACHE, "BYTES", 0,
     "keep so many of each channel for PMIx tools that come late (default: 0)",
     4},
    {"verbose", 'v', NULL, 0, "say what xylem itself does", 4},
    {0},
};
// clang-format on

const int run_options_tree[] = {
    'w',
    'H',
    KEY_HOSTFILE,
    'x',
    'N',
    KEY_ARITY,
    KEY_MODEL,
    KEY_TOPOLOGY,
    KEY_LAUNCHER,
    KEY_RSH,
    KEY_XYLEMD,
    KEY_NO_TREE_SPAWN,
    KEY_LAUNCH_TIMEOUT,
    KEY_MIN_NODES,
    KEY_NODES_PER_DAEMON,
    KEY_PROVIDER,
    KEY_INTERFACE,
    KEY_PORT_RANGE,
    KEY_HEARTBEAT,
    KEY_ON_NODE_LOSS,
    KEY_LINGER,
    KEY_PMIX_ALLOW,
    'v',
    KEY_STDIN_SLOW,
    KEY_SPILL_DIR,
    0,
};

static void launcher(const char *text, struct ep_run_options *o)
{
    if (strcmp(text, "local") == 0)
        o->launcher = EP_RUN_LOCAL;
    else if (strcmp(text, "ssh") == 0)
        o->launcher = EP_RUN_SSH;
    else if (strcmp(text, "slurm") == 0)
        o->launcher = EP_RUN_SLURM;
    else if (strcmp(text, "auto") == 0)
        o->launcher = EP_RUN_AUTO;
    else
        run_usage("--launcher takes local, ssh, slurm or auto, not '%s'", text);
}

static void bind_to(const char *text, struct ep_run_options *o)
{
    o->bind = topo_object_find(text);
    if (o->bind == TOPO_OBJECTS)
        run_usage("--bind takes core, socket or none, not '%s'", text);
}

/* It is looked up on other hosts, where nobody has a working directory. */
static void spill_dir(const char *text, struct ep_run_options *o)
{
    if (text[0] != '/')
        run_usage("--spill-dir takes the full path of a directory, not '%s'",
                  text);
    o->spill_dir = text;
}

static void on_node_loss(const char *text, struct ep_run_options *o)
{
    if (strcmp(text, "abort") == 0)
        o->on_node_loss = EP_RUN_LOSS_ABORT;
    else if (strcmp(text, "continue") == 0)
        o->on_node_loss = EP_RUN_LOSS_CONTINUE;
    else
        run_usage("--on-node-loss takes abort or continue, not '%s'", text);
}

/* The program whose options are being read. */
static struct ep_run_app *app_now(struct ep_run_options *o)
{
    return &o->apps[o->apps_count];
}

static void add_env(const char *text, struct ep_run_options *o)
{
    struct ep_run_app *app = app_now(o);

    if (text[0] == '\0' || text[0] == '=')
        run_usage("--env takes NAME or NAME=VALUE, not '%s'", text);
    if (app->env_first + app->env_count == EP_RUN_ENV_MAX)
        run_usage("--env may be given %d times at most", EP_RUN_ENV_MAX);
    o->env[app->env_first + app->env_count++] = text;
}

static const char *words(const char *option, const char *text)
{
    if (text[0] == '\0')
        run_usage("%s is empty", option);
    return text;
}

/* Options of one program. */
static bool parse_app(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case 'n':
        app_now(o)->procs = run_number("-n", arg, 1, 100000000);
        return true;
    case KEY_PPN:
        run_ppn(arg, app_now(o));
        return true;
    case KEY_ENV:
        add_env(arg, o);
        return true;
    case 'D':
        app_now(o)->chdir = words("--chdir", arg);
        return true;
    default:
        return false;
    }
}

/* Options about the nodes and how they are reached. */
static bool parse_where(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case 'w':
    case 'H':
        o->hosts = words("--hosts", arg);
        return true;
    case KEY_HOSTFILE:
        o->hostfile = words("--hostfile", arg);
        return true;
    case 'x':
        o->exclude = words("--exclude", arg);
        return true;
    case 'N':
        o->nodes = run_number("-N", arg, 1, 10000000);
        return true;
    case KEY_ARITY:
        o->arity = strcmp(arg, "auto") == 0
                       ? EP_RUN_ARITY_AUTO
                       : run_number("--arity", arg, 1, TOPO_ARITY_MAX);
        return true;
    case KEY_MODEL:
        o->model = words("--model", arg);
        return true;
    case KEY_TOPOLOGY:
        o->topology = words("--topology", arg);
        return true;
    case KEY_LAUNCHER:
        launcher(arg, o);
        return true;
    case KEY_BIND:
        bind_to(arg, o);
        return true;
    case KEY_RSH:
        o->rsh = words("--rsh", arg);
        return true;
    case KEY_XYLEMD:
        o->xylemd = words("--xylemd", arg);
        return true;
    case KEY_NO_TREE_SPAWN:
        o->no_tree_spawn = true;
        return true;
    case KEY_MIN_NODES:
        o->min_nodes = run_number("--min-nodes", arg, 1, 10000000);
        return true;
    case KEY_LAUNCH_TIMEOUT:
        o->launch_timeout_s = run_seconds("--launch-timeout", arg, 0.1);
        return true;
    case KEY_NODES_PER_DAEMON:
        o->nodes_per_daemon = run_number("--nodes-per-daemon", arg, 1, 100000);
        return true;
    default:
        return false;
    }
}

static bool parse_fabric(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case KEY_PROVIDER:
        o->provider = words("--provider", arg);
        return true;
    case KEY_INTERFACE:
        o->interface = words("--interface", arg);
        return true;
    case KEY_PORT_RANGE:
        run_port_range(arg, o);
        return true;
    case KEY_HEARTBEAT:
        o->heartbeat_s = run_seconds("--heartbeat", arg, 0.1);
        return true;
    default:
        return false;
    }
}

static bool parse_input(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case 'i':
        o->stdin_ranks = words("--stdin", arg);
        return true;
    case KEY_INPUT:
        o->input = words("--input", arg);
        return true;
    case KEY_STDIN_SLOW:
        run_stdin_slow(arg, o);
        return true;
    case KEY_SPILL_DIR:
        spill_dir(arg, o);
        return true;
    case KEY_KEEP_STDIN:
        o->keep_stdin = true;
        return true;
    case KEY_STDDIAG:
        o->stddiag = true;
        return true;
    default:
        return false;
    }
}

static bool parse_ending(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case 'K':
        o->kill_on_bad_exit = true;
        return true;
    case KEY_ON_NODE_LOSS:
        on_node_loss(arg, o);
        return true;
    case KEY_TIMEOUT:
        o->timeout_s = run_seconds("--timeout", arg, 0.001);
        return true;
    case KEY_LINGER:
        o->linger_s = run_seconds("--linger", arg, 0);
        return true;
    case KEY_NO_PMIX:
        o->tap = NULL;
        return true;
    case KEY_PMIX_ALLOW:
        run_pmix_allow(words("--pmix-allow", arg));
        return true;
    case KEY_PMIX_CACHE:
        run_pmix_cache(arg, o);
        return true;
    case KEY_STATS:
        o->stats = words("--stats", arg);
        return true;
    case 'v':
        o->verbose = true;
        return true;
    default:
        return false;
    }
}

/* Options that contradict each other. */
static void check(const struct ep_run_options *o)
{
    if (o->hosts != NULL && o->hostfile != NULL)
        run_usage("--hosts and --hostfile both name hosts: give one of them");
    if (o->spill_dir != NULL && o->slow != EP_SLOW_SPILL)
        run_usage("--spill-dir is where --stdin-slow=spill spills: give that, "
                  "too");
    output_options_check(o);
    for (uint32_t i = 0; i < o->apps_count; i++) {
        const struct ep_run_app *app = &o->apps[i];

        if (app->per == TOPO_NO_OBJECT && app->procs > 0 && app->ppn > 0 &&
            o->nodes > 0 && app->procs > (uint64_t)app->ppn * o->nodes)
            run_usage("-n %u does not fit into %u nodes with --ppn %u",
                      app->procs, o->nodes, app->ppn);
    }
}

/* Of the command line: what was read so far, and what is left. */
struct reading {
    struct ep_run_options *options;
    const struct run_command *command;
    bool no_colon;
    char **colon; /* the ':' behind the program, or NULL */
};

/* The program and its arguments go to the next ':' or the end. */
static void take_program(struct reading *reading, struct argp_state *state)
{
    char **word = &state->argv[state->next - 1];

    app_now(reading->options)->argv = word;
    state->next = state->argc;
    if (reading->no_colon)
        return;
    if (strcmp(*word, ":") == 0)
        run_usage(
            "no program is given before the ':' (--no-colon takes it for a "
            "word as any other)");
    reading->colon = run_programs_colon(word);
}

static bool parse_global(int key, const char *arg, struct reading *reading)
{
    struct ep_run_options *o = reading->options;
    const struct argp_option *option = argp_options;

    while (option->key != key &&
           (option->name != NULL || option->doc != NULL || option->flags != 0))
        option++;
    if (option->key != key)
        return false;
    if (option->flags & OPTION_ALIAS)
        option--;
    if (o->apps_count > 0)
        run_usage("--%s is for all programs: give it before the first one, not "
                  "behind a ':'",
                  option->name);
    if (key == KEY_NO_COLON) {
        reading->no_colon = true;
        return true;
    }
    return parse_where(key, arg, o) || parse_fabric(key, arg, o) ||
           parse_input(key, arg, o) || output_options_parse(key, arg, o) ||
           parse_ending(key, arg, o);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct reading *reading = state->input;
    struct ep_run_options *o = reading->options;

    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) /* its word: argp names itself anew */
            state->name = reading->command->name;
        else if (reading->command->takes == RUN_NO_PROGRAMS)
            run_usage("there is nothing to be said behind the options: '%s'",
                      arg);
        else
            take_program(reading, state);
        return 0;
    case ARGP_KEY_END:
        if (app_now(o)->argv == NULL)
            run_usage(o->apps_count == 0
                          ? "no program is given"
                          : "no program is given behind the ':'");
        return 0;
    default:
        break;
    }
    return parse_app(key, arg, o) || parse_global(key, arg, reading)
               ? 0
               : ARGP_ERR_UNKNOWN;
}

static void read_programs(int argc, char **argv, const struct argp *argp,
                          struct reading *reading)
{
    struct ep_run_options *options = reading->options;

    for (;;) {
        argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, reading);
        options->apps_count++;
        if (reading->colon == NULL)
            break;
        *reading->colon = NULL; /* not before: argp still looked at it */
        if (options->apps_count == EP_RUN_APPS_MAX)
            run_usage("a job has %d programs at most", EP_RUN_APPS_MAX);
        app_now(options)->env_first =
            options->apps[options->apps_count - 1].env_first +
            options->apps[options->apps_count - 1].env_count;
        argv = run_programs_words(argv, reading->colon + 1, &argc);
        if (argv == NULL)
            run_usage("out of memory");
        reading->colon = NULL;
    }
}

static bool takes(const struct run_command *command, int key)
{
    const int *at = command->keys;

    while (at != NULL && *at != 0 && *at != key)
        at++;
    return at == NULL || *at == key;
}

enum { ROWS = sizeof(argp_options) / sizeof(argp_options[0]) };

/* A row without a key is the words above a group. */
static bool is_empty(const struct run_command *command, int group)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (argp_options[i].group == group && argp_options[i].key != 0 &&
            takes(command, argp_options[i].key))
            return false;
    }
    return true;
}

/* Those that the command takes. */
static void choose_options(const struct run_command *command,
                           struct argp_option *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct argp_option *row = &argp_options[i];

        if (row->key != 0 ? takes(command, row->key)
                          : row->doc == NULL || !is_empty(command, row->group))
            *out++ = *row;
    }
}

void run_options_parse(int argc, char **argv, const struct run_command *command,
                       struct ep_run_options *options)
{
    static struct argp_option taken[ROWS];
    const struct argp argp = {
        .options = taken,
        .parser = parse,
        .children = command->more,
        .args_doc = command->args_doc,
        .doc = command->doc,
    };
    static char name[] = "xylem", *none[] = {name, NULL};
    struct reading reading = {.options = options, .command = command};

    choose_options(command, taken);
    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    argv[0] = name;
    *options = (struct ep_run_options){.linger_s = 2,
                                       .launch_timeout_s = 60,
                                       .heartbeat_s = 10,
                                       .stdin_ranks = "all",
                                       .rsh = "ssh -o BatchMode=yes",
                                       .tap = &run_pmix_tap};
    options->apps[0].argv = command->takes != RUN_PROGRAMS ? none : NULL;
    read_programs(argc, argv, &argp, &reading);
    check(options);
}
