/* xylem stack: shows in which functions the processes of a running job are.
 *
 * It is a client of the session's door and starts further jobs there, which
 * have one program for each host. The program runs a debugger beside each of
 * the processes (script.c). These jobs end when this process ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/choose.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/refuse.h"
#include "commands/stack/jobs.h"
#include "commands/stack/nodes.h"
#include "commands/stack/report.h"
#include "commands/stack/tell.h"
#include "endpoints/client/table.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"
#include "topo/ranges.h"

#define OPTION_INTO struct stack_options

struct stack_options {
    struct choose_by which;
    struct topo_ranges ranks; /* the ranks to look at; empty: all ranks */
    double timeout_s;
    bool is_json;
    const char **words; /* the user's command; NULL: the user gave none */
};

enum { TIMEOUT_S = 30 };

static struct stack_options options = {.timeout_s = TIMEOUT_S};

/* --- options */

static void read_pid(const char *text, void *into)
{
    struct stack_options *o = into;

    o->which.pid = ep_process_number(text);
    if (o->which.pid == 0)
        usage("--pid takes a process number, not '%s'", text);
}

/* Takes all words after "--". */
static void take_command(struct option_words *words)
{
    const int first = words->next - 1, count = words->argc - first;

    options.words = calloc((size_t)count + 1, sizeof(*options.words));
    if (options.words == NULL)
        exit(refuse("%s", ov_strerror(OV_ENOMEM)));
    for (int i = 0; i < count; i++)
        options.words[i] = words->argv[first + i];
    words->next = words->argc;
}

/* Takes the number of a session or the name of a job, or else a command. */
static void take_word(const char *word, struct option_words *words)
{
    const pid_t pid = ep_process_number(word);

    if (words->next >= 2 && strcmp(words->argv[words->next - 2], "--") == 0) {
        take_command(words);
        return;
    }
    if (options.which.nspace != NULL || (pid != 0 && options.which.pid != 0))
        usage("name one job: '%s' is another (a command stands behind `--')",
              word);
    if (pid != 0)
        options.which.pid = pid;
    else
        options.which.nspace = word;
}

static void read_ranks(const char *text, void *into)
{
    struct stack_options *o = into;
    const uint32_t terms = topo_ranges_terms(text, strlen(text));
    struct topo_range *items = calloc(terms + 1u, sizeof(*items));
    struct topo_fault fault = {.what = "out of memory"};

    if (items != NULL) {
        topo_ranges_init(&o->ranks, items, terms + 1);
        if (topo_ranges_parse(&o->ranks, text, strlen(text), &fault) == 0)
            return;
    }
    usage("%s '%s': %s", "--ranks", text, fault.what);
}

static void read_format(const char *text, void *into)
{
    struct stack_options *o = into;

    o->is_json = strcmp(text, "json") == 0;
    if (!o->is_json && strcmp(text, "text") != 0)
        usage("--format takes text or json, not '%s'", text);
}

// clang-format off
static const struct option_row rows[] = {
    {"pid", 'p', "P", "the job of the xylem run with this process number",
     0, READ(read_pid)},
    {"ranks", 'r', "LIST", "look at these alone, as 0,4-7",
     0, READ(read_ranks)},
    {"timeout", 0, "TIME",
     "kill a command that takes longer for one process (30s)",
     0, SECONDS(timeout_s, 0.1)},
    {"format", 0, "FORMAT", "text, or json (one object)",
     0, READ(read_format)},
    {0},
};
// clang-format on

static void parse_options(int argc, char **argv)
{
    static const struct option_table tables[] = {
        {.rows = rows, .into = &options}, {0}};
    static const struct option_command command = {
        .name = "xylem stack",
        .args_doc = "[WHICH] [-- COMMAND [ARGS...]]",
        .doc =
            "Show where the processes of a running job are: the functions "
            "that they have called, as one tree for all. WHICH is the "
            "process number of its xylem run, or its name, or both; without "
            "it: the one running on this machine. COMMAND is run beside each "
            "process, with its number in the place of {} or behind its "
            "arguments; without it: gdb or eu-stack.",
        .help = {.examples =
                     "  xylem stack                               where all "
                     "are\n"
                     "  xylem stack -r 0-7 -- cat /proc/{}/wchan  what the "
                     "kernel says\n"
                     "  xylem stack -- py-spy dump --pid          programs in "
                     "Python\n"},
        .tables = tables,
        .on_word = take_word};

    usage_command = "stack";
    options_parse(argc, argv, &command);
}

/* --- the processes to look at */

static bool is_wanted(uint32_t rank)
{
    return options.ranks.count == 0 ||
           topo_ranges_touches(&options.ranks, (struct topo_range){rank, rank});
}

/* Adds a process if it runs; otherwise reports why it cannot be looked at. */
static void add_target(const struct stack_job *job, uint32_t rank,
                       const char *host, struct stack_plan *plan)
{
    struct stack_report *report = plan->arg;
    const int32_t pid = ep_table_pid(job->table, rank);
    int status;

    if (!is_wanted(rank))
        return;
    if (ep_table_exit(job->table, rank, &status))
        stack_report_ended(report, rank);
    else if (pid <= 0)
        stack_report_fault(report, STACK_FAULT_UNSTARTED, rank, "", 0);
    else
        plan->targets[plan->count++] = (struct stack_target){
            .rank = rank, .pid = (uint32_t)pid, .host = host};
}

/* Lists the processes. Returns 0, or 1 after it has reported what is wrong. */
static int find_targets(const struct stack_job *job, struct stack_plan *plan)
{
    const uint32_t count = topo_ranges_size(&options.ranks);
    const uint32_t last = topo_ranges_nth(&options.ranks, count - 1);
    const struct ep_table_place *place;

    if (count > 0 && last >= job->size)
        return refuse("%s: there is no rank %u: the job has %u processes, "
                      "counted from 0",
                      "--ranks", last, job->size);
    plan->targets = calloc((size_t)job->size + 1, sizeof(*plan->targets));
    if (plan->targets == NULL)
        return refuse("%s", ov_strerror(OV_ENOMEM));
    for (uint32_t i = 0; (place = ep_table_at(job->table, i)) != NULL; i++) {
        for (uint32_t rank = place->first;
             rank < place->first + place->count && plan->count < job->size;
             rank++)
            add_target(job, rank, place->host, plan);
    }
    return 0;
}

/* --- results */

static void on_failed(void *arg, const struct stack_target *target,
                      const char *why)
{
    stack_report_fault(arg, STACK_FAULT_FAILED, target->rank, why, strlen(why));
}

/* Notes the processes that have ended meanwhile together with their session. */
static void add_rest(const struct stack_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        if (!plan->targets[i].is_seen && !plan->targets[i].is_failed)
            stack_report_ended(plan->arg, plan->targets[i].rank);
    }
}

/* Returns the number of columns of the terminal; 0: stdout is no terminal. */
static uint32_t columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int tell(struct stack_report *report, const char *job)
{
    const int rc = options.is_json ? stack_tell_json(report, job, stdout)
                                   : stack_tell_text(report, columns(), stdout);

    if (rc != 0)
        return refuse("%s", ov_strerror(rc));
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return refuse("cannot write the results: %s", strerror(errno));
    return stack_tell_faults(report);
}

/* Looks at the job, and prints the result. Returns the exit code. */
static int look(const struct ep_session *session, const struct stack_job *job)
{
    static struct stack_report report;
    struct stack_plan plan = {.session = session,
                              .words = options.words,
                              .limit_s = options.timeout_s,
                              .on_look = stack_report_look,
                              .on_failed = on_failed,
                              .arg = &report};
    const char *why = NULL;
    int code;

    stack_report_init(&report, options.words != NULL ? options.words[0] : NULL,
                      options.timeout_s);
    code = find_targets(job, &plan);
    if (code == 0)
        why = stack_nodes_look(&plan);
    if (code == 0 && why != NULL)
        code = refuse("%s", why);
    if (code == 0) {
        add_rest(&plan);
        code = tell(&report, job->name);
    }
    free(plan.targets);
    stack_report_free(&report);
    return code;
}

int stack_main(int argc, char **argv)
{
    struct ep_session found;
    struct stack_job job;
    int code;

    parse_options(argc, argv);
    if (choose_launcher(&options.which, &found) != 0)
        return 1;
    signal(SIGPIPE, SIG_IGN);
    code = stack_job_find(&found, options.which.nspace, &job);
    ep_session_close(&found);
    if (code == 0) {
        code = look(&found, &job);
        ep_table_close(job.table);
    }
    free(options.words);
    free(options.ranks.items);
    return code;
}
