/* Parses the command line of `xylem run'. */
#include "commands/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/env_options.h"
#include "commands/host_groups.h"
#include "commands/host_input.h"
#include "commands/program_word.h"
#include "commands/refuse.h"
#include "commands/shell_words.h"
#include "commands/stream_options.h"
#include "commands/values.h"
#include "endpoints/boot/launcher.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/prelude.h"
#include "topo/tree.h"

#define OPTION_INTO struct ep_run_options

enum { ADDED_BYTES = 512 };

/* The state of reading the command line. */
static struct {
    struct ep_run_options *options;
    const struct run_command *command;
    bool no_colon;
    char **colon;                   /* the ':' after the current program, or
                                       NULL */
    const struct option_row *alien; /* the first option that a job in a dvm
                                       cannot have */
} reading;

/* --- values about nodes */

static void read_nodes(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->nodes = (uint32_t)value_number("-N", text, 1, 10000000);
}

static void read_arity(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->arity = EP_RUN_ARITY_AUTO;
    if (strcmp(text, "auto") != 0)
        o->arity = (uint32_t)value_number("--arity", text, 1, TOPO_ARITY_MAX);
}

static void read_launcher(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->launcher = ep_launcher_find(text);
    if (o->launcher == EP_LAUNCHERS && strcmp(text, "auto") != 0)
        usage("--launcher takes local, ssh, slurm or auto, not '%s'", text);
}

static void read_bind(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->bind = topo_object_find(text);
    if (o->bind == TOPO_OBJECTS)
        usage("--bind takes core, socket or none, not '%s'", text);
}

static void read_port_range(const char *text, void *into)
{
    struct ep_run_options *o = into;
    unsigned first, last;
    char rest;

    if (sscanf(text, "%u-%u%c", &first, &last, &rest) != 2 || first == 0 ||
        first > last || last > 65535)
        usage("--port-range takes two ports as 20000-20099, not '%s'", text);
    o->port_first = (uint16_t)first;
    o->port_last = (uint16_t)last;
}

static void read_dvm(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->dvm = text != NULL ? text : "";
}

/* --- values of one program */

/* Returns the program whose options are being read. */
static struct job_wish *app_now(struct ep_run_options *o)
{
    return &o->apps[o->apps_count];
}

static void read_procs(const char *text, void *into)
{
    app_now(into)->procs = (uint32_t)value_number("-n", text, 1, 100000000);
}

/* Reads the value of --ppn: N, N:core or N:socket. */
static void read_ppn(const char *text, void *into)
{
    struct job_wish *app = app_now(into);
    const char *colon = strchr(text, ':');
    char digits[16];

    app->per = TOPO_NO_OBJECT;
    if (colon != NULL)
        app->per = topo_object_find(colon + 1);
    snprintf(digits, sizeof(digits), "%.*s",
             colon != NULL ? (int)(colon - text) : (int)strlen(text), text);
    if (app->per == TOPO_OBJECTS ||
        (colon != NULL && app->per == TOPO_NO_OBJECT))
        usage("--ppn takes N, N:core or N:socket, not '%s'", text);
    app->ppn = (uint32_t)value_number("--ppn", digits, 1, EP_RUN_PPN_MAX);
}

static void read_chdir(const char *text, void *into)
{
    app_now(into)->program.cwd = value_words("--chdir", text);
}

static void read_no_colon(const char *text, void *into)
{
    (void)text;
    (void)into;
    reading.no_colon = true;
}

/* --- values about the end, and PMIx */

static void read_on_node_loss(const char *text, void *into)
{
    struct ep_run_options *o = into;

    if (strcmp(text, "abort") == 0)
        o->on_node_loss = EP_RUN_LOSS_ABORT;
    else if (strcmp(text, "continue") == 0)
        o->on_node_loss = EP_RUN_LOSS_CONTINUE;
    else
        usage("--on-node-loss takes abort or continue, not '%s'", text);
}

/* Reads the value of --on-stall: TIME, TIME:all, TIME:COMMAND or
 * TIME:all:COMMAND. */
static void read_on_stall(const char *text, void *into)
{
    struct ep_run_options *o = into;
    const char *colon = strchr(text, ':');
    char time[32];

    snprintf(time, sizeof(time), "%.*s",
             colon != NULL ? (int)(colon - text) : (int)strlen(text), text);
    o->stall_s = value_seconds("--on-stall", time, 1);
    o->stall_all = false;
    o->stall_command = NULL;
    if (colon == NULL)
        return;
    o->stall_all =
        strcmp(colon + 1, "all") == 0 || strncmp(colon + 1, "all:", 4) == 0;
    if (o->stall_all)
        colon = strchr(colon + 1, ':');
    if (colon != NULL)
        o->stall_command = value_words("--on-stall=TIME:COMMAND", colon + 1);
}

static void read_no_pmix(const char *text, void *into)
{
    struct ep_run_options *o = into;

    (void)text;
    o->desk = NULL;
}

static void read_pmix_allow(const char *text, void *into)
{
    (void)into;
    reading.command->pmix_allow(value_words("--pmix-allow", text));
}

static void read_pmix_cache(const char *text, void *into)
{
    struct ep_run_options *o = into;
    o->cache_bytes =
        (uint32_t)value_bytes("--pmix-cache", text, 0, JOB_CACHE_MAX);
    o->has_cache = true;
}

/* --- the options */

// clang-format off
static const struct option_row where_options[] = {
    {.doc = "Where:"},
    {"hosts", 'w', "LIST", "hosts, as node[001-128],login:4",
     OF_TREE | OF_JOB, WORDS(hosts), .is_list = true},
    {.letter = 'H', .sets = OF_TREE | OF_JOB},
    {"hostfile", 0, "FILE", "one host a line, slots=N, # comments; - is stdin",
     OF_TREE | OF_JOB, WORDS(hostfile)},
    {"exclude", 'x', "LIST", "hosts to leave out",
     OF_TREE, WORDS(exclude), .is_list = true},
    {"nodes", 'N', "N",
     "the first N hosts of the list or allocation; with neither, N virtual "
     "nodes on this machine",
     OF_TREE | OF_JOB, READ(read_nodes)},
    {"procs", 'n', "N",
     "processes in all, placed by slots (default: one per node); also -np N",
     OF_JOB | OF_PROGRAM, READ(read_procs), .tail = "p"},
    {"ppn", 0, "N",
     "processes per node; N:core, N:socket: per core or socket of a node",
     OF_JOB | OF_PROGRAM, READ(read_ppn)},
    {"dvm", 0, "WHICH",
     "in the tree of the xylem dvm that is up, or of the one with this process "
     "number or name",
     OF_JOB, READ(read_dvm), .is_optional = true},
    {"arity", 0, "K",
     "children per node of the tree, or auto: by a model of the machine",
     OF_TREE, READ(read_arity)},
    {"model", 0, "FILE", "latency, overhead and bandwidth of it",
     OF_TREE, WORDS(model)},
    {"topology", 0, "FILE",
     "which host is under which switch, as Slurm's topology.conf: the tree "
     "crosses switches as rarely as can be",
     OF_TREE, WORDS(topology)},
    {"launcher", 0, "L",
     "local, ssh, slurm or auto (default: slurm inside an allocation of Slurm, "
     "ssh with hosts other than this machine, else local)",
     OF_TREE, READ(read_launcher)},
    {"rsh", 0, "CMD",
     "what ssh runs, called as CMD HOST COMMANDLINE (default: "
     "'ssh -o BatchMode=yes')",
     OF_TREE, WORDS(rsh)},
    {"xylemd", 0, "PATH",
     "the daemon's path on the hosts (default: beside xylem)",
     OF_TREE, WORDS(xylemd)},
    {"no-tree-spawn", 0, NULL, "the launcher starts every daemon itself",
     OF_TREE, FLAG(no_tree_spawn)},
    {"launch-timeout", 0, "TIME",
     "wait so long for the daemons, in seconds or as 500ms, 5m, 2h (default: "
     "60)",
     OF_TREE, SECONDS(launch_timeout_s, 0.1)},
    {"min-nodes", 0, "M",
     "leave out hosts whose daemons do not come, while M are left",
     OF_TREE, NUMBER(min_nodes, 1, 10000000)},
    {"nodes-per-daemon", 0, "N", "virtual nodes in one daemon of this machine",
     OF_TREE, NUMBER(nodes_per_daemon, 1, 100000)},
    {"provider", 0, "P",
     "libfabric provider: verbs, tcp (default: best present)",
     OF_TREE, WORDS(provider)},
    {"interface", 0, "IF",
     "network interface, address, or network as 10.1.0.0/16",
     OF_TREE, WORDS(interface)},
    {"port-range", 0, "A-B", "listening ports", OF_TREE, READ(read_port_range)},
    {"heartbeat", 0, "TIME",
     "a daemon silent for so long, in seconds or as 500ms, is left by its "
     "neighbours (default: 10, more for thousands of virtual nodes)",
     OF_TREE, SECONDS(heartbeat_s, 0.1)},
    {"env", 0, "NAME[=VALUE]", "environment for the processes (repeatable)",
     OF_JOB | OF_PROGRAM, READ(env_options_env)},
    {"export", 0, "LIST",
     "what processes get of this environment: ALL, NONE, or NAME[=VALUE],... "
     "(default: ALL)",
     OF_JOB, READ(env_options_export)},
    {"chdir", 'D', "DIR",
     "working directory (default: the launcher's, where it exists)",
     OF_JOB | OF_PROGRAM, READ(read_chdir)},
    {"bind", 0, "B",
     "bind processes to a core or socket each, in turn: core, socket or none "
     "(default: none)",
     0, READ(read_bind)},
    {"no-colon", 0, NULL,
     "a word `:' behind PROGRAM is an argument and begins no other program",
     OF_JOB, READ(read_no_colon)},
    {0},
};

/* The first row is about output; --help shows it at the end of output_options.
 */
static const struct option_row ending_options[] = {
    {"stddiag", 0, NULL,
     "a third channel of output, for diagnostics: the descriptor that "
     "XYLEM_STDDIAG_FD names; it comes out on stderr",
     OF_JOB, FLAG(stddiag)},
    {.doc = "Ending:"},
    {"kill-on-bad-exit", 'K', NULL, "a non-zero exit ends the job",
     0, FLAG(kill_on_bad_exit)},
    {"on-node-loss", 0, "P",
     "abort: a lost node ends the job; continue: the others go on (default: "
     "abort)",
     OF_TREE, READ(read_on_node_loss)},
    {"on-stall", 0, "TIME",
     "name processes that wait and make no progress for that long; TIME:all: "
     "also those that compute; TIME:COMMAND: and run COMMAND PID beside each; "
     "TIME:stack: and show where they are",
     OF_JOB, READ(read_on_stall)},
    {"timeout", 0, "TIME",
     "end the job after that time, in seconds or as 500ms, 5m, 2h (exit code "
     "124)",
     OF_JOB, SECONDS(timeout_s, 0.001)},
    {"linger", 0, "TIME",
     "read a process's output so long past its exit, in seconds or as 500ms, "
     "5m (default: 2)",
     OF_TREE, SECONDS(linger_s, 0)},
    {"stats", 0, "FILE", "write a report in JSON at the end", 0, WORDS(stats)},
    {"no-pmix", 0, NULL, "PMIx tools cannot connect", 0, READ(read_no_pmix)},
    {"pmix-allow", 0, "USER,...",
     "whose PMIx tools can connect (default: your own and root's)",
     OF_TREE, READ(read_pmix_allow)},
    {"pmix-cache", 0, "BYTES",
     "keep so many of each channel, as 64K or 1M, for PMIx tools that come "
     "late (default: 0; of jobs that tools start, 64K)",
     OF_TREE, READ(read_pmix_cache)},
    {"verbose", 'v', NULL, "say what xylem itself does",
     OF_TREE | OF_JOB, FLAG(verbose)},
    {"quiet", 'q', NULL, "leave out notices: say only what goes wrong",
     OF_TREE | OF_JOB, FLAG(quiet)},
    {0},
};
// clang-format on

/* --- combinations of options */

/* Refuses options that contradict each other. */
static void check_all(const struct ep_run_options *o)
{
    if (o->hosts != NULL && o->hostfile != NULL)
        usage("--hosts and --hostfile both name hosts: give one of them");
    if (o->spill_dir != NULL && o->slow != JOB_SLOW_SPILL)
        usage("--spill-dir needs --stdin-slow=spill: give that, too");
    if (o->quiet && o->verbose)
        usage("--quiet and --verbose exclude each other: give one of them");
    stream_options_check(o, o->dvm == NULL);
    for (uint32_t i = 0; i < o->apps_count; i++) {
        const struct job_wish *app = &o->apps[i];

        if (app->per == TOPO_NO_OBJECT && app->procs > 0 && app->ppn > 0 &&
            o->nodes > 0 && app->procs > (uint64_t)app->ppn * o->nodes)
            usage("-n %u does not fit into %u nodes with --ppn %u", app->procs,
                  o->nodes, app->ppn);
    }
}

/* Refuses options that a job in a dvm cannot have. */
static void check_dvm(const struct ep_run_options *o)
{
    const struct option_row *alien = reading.alien;

    if (o->dvm == NULL)
        return;
    if (alien != NULL && (alien->sets & OF_TREE) != 0)
        usage("--%s is for a tree, and with --dvm there is one: give it to "
              "`xylem dvm', or leave out --dvm",
              alien->name);
    if (alien != NULL)
        usage("a job in a dvm cannot have --%s: leave out that, or --dvm",
              alien->name);
    for (uint32_t i = 0; i < o->apps_count; i++) {
        if (o->apps[i].per != TOPO_NO_OBJECT && o->nodes > 0)
            usage("with --dvm, -N goes with --ppn for each node alone, not "
                  "for each core or socket: name hosts instead of -N");
        if (o->apps[i].procs > 0 && o->nodes > 0)
            usage("with --dvm, -N says on how many nodes, --ppn how many "
                  "on each: give these instead of -n");
    }
}

/* --- programs */

/* Called for each option. After a ':' only options of a program are allowed. */
static void on_row(const struct option_row *row)
{
    if ((row->sets & OF_PROGRAM) != 0)
        return;
    if (reading.options->apps_count > 0)
        usage("--%s is for all programs: give it before the first one, not "
              "behind a ':'",
              row->name);
    if (reading.alien == NULL && (row->sets & OF_JOB) == 0)
        reading.alien = row;
}

/* Finds the first argument that is `:', from this argument on; or NULL. */
static char **find_colon(char **word)
{
    while (*word != NULL && strcmp(*word, ":") != 0)
        word++;
    return *word != NULL ? word : NULL;
}

/* Stores the program and its arguments, which extend to the next ':' or to the
 * end of the command line. */
static void take_program(const char *first, struct option_words *words)
{
    char **word = &words->argv[words->next - 1];

    program_word_check(reading.options->hosts, word[-1], first);
    app_now(reading.options)->program.argv = (const char *const *)word;
    words->next = words->argc;
    if (reading.no_colon)
        return;
    if (strcmp(first, ":") == 0)
        usage("no program is given before the ':' (--no-colon makes it an "
              "argument like any other)");
    reading.colon = find_colon(word);
}

/* Makes a command line of the first two arguments of `head' and the arguments
 * in `rest' (ended by NULL), which describe the next program. *argc becomes its
 * length. The array is never freed, because options point into it; the strings
 * are borrowed. */
static char **copy_words(char **head, char **rest, int *argc)
{
    size_t count = 0;
    char **words;

    while (rest[count] != NULL)
        count++;
    words = calloc(count + 3, sizeof(*words));
    if (words == NULL)
        usage("out of memory");
    memcpy(words, head, 2 * sizeof(*words));
    memcpy(words + 2, rest, count * sizeof(*words));
    *argc = (int)count + 2;
    return words;
}

static void read_programs(int argc, char **argv,
                          const struct option_command *command)
{
    struct ep_run_options *o = reading.options;

    for (;;) {
        options_parse(argc, argv, command);
        if (app_now(o)->program.argv == NULL)
            usage(o->apps_count == 0
                      ? "no program is given"
                      : "no program is given behind the ':' (--no-colon makes "
                        "it an argument like any other)");
        o->apps_count++;
        if (reading.colon == NULL)
            break;
        *reading.colon = NULL; /* now ends the program's argv */
        if (o->apps_count == EP_RUN_APPS_MAX)
            usage("a job has %d programs at most", EP_RUN_APPS_MAX);
        argv = copy_words(argv, reading.colon + 1, &argc);
        reading.colon = NULL;
    }
}

/* Has usage() tell of the options in the environment from now on. */
static void remember(const char *variable, const char *text)
{
    static char more[ADDED_BYTES];

    snprintf(more, sizeof(more), "%s has options, too: %s", variable, text);
    usage_more = more;
}

/* Reads the options in the environment. Their words are never freed, as options
 * point into them. The first two arguments of `head' become those before
 * them. */
static void read_variable(char **head, const struct run_command *command,
                          const struct option_command *of_arguments)
{
    struct option_command how = *of_arguments;
    /* Kept to the end of the program. A compiler would leave out a variable
     * that nobody reads. */
    static char **volatile words;
    const char *text, *fault;
    char **line;
    int argc;

    text = command->variable != NULL ? getenv(command->variable) : NULL;
    if (text == NULL)
        return;
    usage_variable = command->variable;
    words = shell_words_split(text, &fault);
    if (words == NULL)
        usage("%s", fault != NULL ? fault : "out of memory");
    if (words[0] != NULL) {
        how.on_word = NULL; /* all words are options and their values */
        line = copy_words(head, words, &argc);
        options_parse(argc, line, &how);
        free(line);
        remember(command->variable, text);
    }
    usage_variable = NULL;
}

/* Does what may take long: --timeout and signals end the program meanwhile. */
static void find_hosts(struct ep_run_options *options,
                       const struct run_command *command)
{
    ep_prelude_open(options->timeout_s, options->start_ns);
    options->hosts = host_groups_expand(options->hosts);
    options->exclude = host_groups_expand(options->exclude);
    /* The end of the list is the end of stdin, too. */
    if (host_input_read(options) && options->input == NULL &&
        command->takes == RUN_PROGRAMS)
        options->input = "/dev/null";
    ep_prelude_close();
}

void run_options_parse(int argc, char **argv, const struct run_command *command,
                       struct ep_run_options *options)
{
    static const char *const none[] = {"xylem", NULL};
    const struct option_table tables[] = {
        {.rows = where_options, .into = options},
        {.rows = input_options, .into = options},
        {.rows = output_options, .into = options},
        {.rows = ending_options, .into = options},
        command->more,
        {.rows = NULL},
    };
    const struct option_command how = {
        .name = command->name,
        .args_doc = command->args_doc,
        .doc = command->doc,
        .help = command->help,
        .tables = tables,
        .sets = command->sets,
        .on_row = on_row,
        .on_word = command->takes == RUN_NO_PROGRAMS ? NULL : take_program,
    };

    reading.options = options;
    reading.command = command;
    *options = (struct ep_run_options){.launcher = EP_LAUNCHERS,
                                       .linger_s = 2,
                                       .launch_timeout_s = 60,
                                       .stdin_ranks = "all",
                                       .desk = command->desk(),
                                       .start_ns = ep_clock_ns()};
    options->apps[0].program.argv =
        command->takes != RUN_PROGRAMS ? none : NULL;
    read_variable(argv, command, &how);
    read_programs(argc, argv, &how);
    check_all(options);
    check_dvm(options);
    find_hosts(options, command);
}
