/* Parsing the command line of `xylem run`, with argp. */
#include "commands/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/output_options.h"
#include "commands/run_programs.h"
#include "commands/run_table.h"
#include "commands/run_values.h"
#include "config.h"
#include "topo/tree.h"

static void launcher(const char *text, struct ep_run_options *o)
{
    if (strcmp(text, "local") == 0)
        o->launcher = EP_LAUNCHER_LOCAL;
    else if (strcmp(text, "ssh") == 0)
        o->launcher = EP_LAUNCHER_SSH;
    else if (strcmp(text, "slurm") == 0)
        o->launcher = EP_LAUNCHER_SLURM;
    else if (strcmp(text, "auto") == 0)
        o->launcher = EP_LAUNCHERS;
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
static struct job_wish *app_now(struct ep_run_options *o)
{
    return &o->apps[o->apps_count];
}

static void add_env(const char *text, struct ep_run_options *o)
{
    struct job_wish *app = app_now(o);

    if (text[0] == '\0' || text[0] == '=')
        run_usage("--env takes NAME or NAME=VALUE, not '%s'", text);
    if (o->env_count == EP_RUN_ENV_MAX)
        run_usage("--env may be given %d times at most", EP_RUN_ENV_MAX);
    if (app->env_count++ == 0)
        app->env = &o->env[o->env_count];
    o->env[o->env_count++] = (struct job_env){
        .what = strchr(text, '=') != NULL ? JOB_ENV_SET : JOB_ENV_OWN,
        .text = text};
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
        app_now(o)->program.cwd = words("--chdir", arg);
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
    if (o->spill_dir != NULL && o->slow != JOB_SLOW_SPILL)
        run_usage("--spill-dir is where --stdin-slow=spill spills: give that, "
                  "too");
    output_options_check(o);
    for (uint32_t i = 0; i < o->apps_count; i++) {
        const struct job_wish *app = &o->apps[i];

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
    char **colon;                    /* the ':' behind the program, or NULL */
    const struct argp_option *alien; /* the first that no dvm's job can have */
};

static bool is_among(const int *keys, int key)
{
    while (*keys != 0 && *keys != key)
        keys++;
    return *keys == key;
}

/* A job in a dvm: what is asked for that it cannot have? */
static void check_dvm(const struct reading *reading)
{
    const struct argp_option *alien = reading->alien;
    const struct ep_run_options *o = reading->options;

    if (o->dvm == NULL)
        return;
    if (alien != NULL && is_among(run_options_tree, alien->key))
        run_usage("--%s is for a tree, and with --dvm there is one: give it to "
                  "`xylem dvm', or leave out --dvm",
                  alien->name);
    if (alien != NULL)
        run_usage("a job in a dvm cannot have --%s: leave out that, or --dvm",
                  alien->name);
    for (uint32_t i = 0; i < o->apps_count; i++) {
        if (o->apps[i].per != TOPO_NO_OBJECT && o->nodes > 0)
            run_usage("with --dvm, -N goes with --ppn for each node alone, not "
                      "for each core or socket: name hosts instead of -N");
        if (o->apps[i].procs > 0 && o->nodes > 0)
            run_usage("with --dvm, -N says on how many nodes, --ppn how many "
                      "on each: give these instead of -n");
    }
}

/* The program and its arguments go to the next ':' or the end. */
static void take_program(struct reading *reading, struct argp_state *state)
{
    char **word = &state->argv[state->next - 1];

    app_now(reading->options)->program.argv = (const char *const *)word;
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
    const struct argp_option *option = run_table;

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
    if (reading->alien == NULL && !is_among(run_options_job, key))
        reading->alien = option;
    if (key == KEY_NO_COLON) {
        reading->no_colon = true;
        return true;
    }
    if (key == KEY_DVM) {
        o->dvm = arg != NULL ? arg : "";
        return true;
    }
    if (key == KEY_PMIX_ALLOW) {
        reading->command->pmix_allow(words("--pmix-allow", arg));
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
        if (app_now(o)->program.argv == NULL)
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
        argv = run_programs_words(argv, reading->colon + 1, &argc);
        if (argv == NULL)
            run_usage("out of memory");
        reading->colon = NULL;
    }
}

static bool takes(const struct run_command *command, int key)
{
    return command->keys == NULL || is_among(command->keys, key);
}

static bool is_empty(const struct run_command *command, int group)
{
    for (size_t i = 0; i < RUN_ROWS; i++) {
        if (run_table[i].group == group && run_table[i].key != 0 &&
            takes(command, run_table[i].key))
            return false;
    }
    return true;
}

/* Those that the command takes. */
static void choose_options(const struct run_command *command,
                           struct argp_option *out)
{
    for (size_t i = 0; i < RUN_ROWS; i++) {
        const struct argp_option *row = &run_table[i];

        if (row->key != 0 ? takes(command, row->key)
                          : row->doc == NULL || !is_empty(command, row->group))
            *out++ = *row;
    }
}

void run_options_parse(int argc, char **argv, const struct run_command *command,
                       struct ep_run_options *options)
{
    static struct argp_option taken[RUN_ROWS];
    const struct argp argp = {
        .options = taken,
        .parser = parse,
        .children = command->more,
        .args_doc = command->args_doc,
        .doc = command->doc,
    };
    static const char *const none[] = {"xylem", NULL};
    static char name[] = "xylem";
    struct reading reading = {.options = options, .command = command};

    choose_options(command, taken);
    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    argv[0] = name;
    *options = (struct ep_run_options){.launcher = EP_LAUNCHERS,
                                       .linger_s = 2,
                                       .launch_timeout_s = 60,
                                       .stdin_ranks = "all",
                                       .rsh = "ssh -o BatchMode=yes",
                                       .tap = command->tap};
    options->apps[0].program.argv =
        command->takes != RUN_PROGRAMS ? none : NULL;
    read_programs(argc, argv, &argp, &reading);
    check(options);
    check_dvm(&reading);
}
