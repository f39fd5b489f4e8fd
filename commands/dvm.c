/* The command `xylem dvm`. */
#include "commands/commands.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/choose.h"
#include "commands/refuse.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "endpoints/client/sessions.h"
#include "endpoints/sys/process.h"

#define OPTION_INTO struct ep_run_options

/* --- ending a running dvm */

enum { LOOK_MS = 50 };

/* Waits for the end of the process. A pid of 0 is a process in another
 * container, which cannot be watched. */
static void wait_gone(pid_t pid, struct pollfd *gone)
{
    if (pid == 0)
        return;
    while (poll(gone, 1, gone->fd < 0 ? LOOK_MS : -1) <= 0) {
        if (gone->fd < 0 && kill(pid, 0) != 0)
            return;
    }
}

/* Waits until the dvm has closed its door and then ended its process. */
static int end_dvm(const struct ep_session *dvm)
{
    const struct job_door stop = {.kind = JOB_DOOR_STOP};
    struct pollfd gone = {.fd = ep_process_watch(dvm->pid), .events = POLLIN};
    struct job_door answer;
    int rc = ep_session_say(dvm, &stop);

    if (rc == 0)
        rc = ep_session_hear(dvm, -1, &answer);
    if (rc == 0)
        return refuse("%s", answer.text);
    wait_gone(dvm->pid, &gone);
    return 0;
}

static bool is_stop(const char *word)
{
    return strcmp(word, "--stop") == 0 || strncmp(word, "--stop=", 7) == 0;
}

/* Returns the first of the arguments for which this is true, or NULL. */
static char *find_word(int argc, char **argv, bool (*is)(const char *word))
{
    for (int i = 2; i < argc; i++) {
        if (is(argv[i]))
            return argv[i];
    }
    return NULL;
}

/* Tells whether the word asks for help or the version. */
static bool is_question(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 ||
           strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0;
}

/* Finds the dvm, tells it to end, and waits until it has ended. */
static int stop_dvm(int argc, char **argv)
{
    static const struct dvm_use use = {.option = "dvm --stop", .verb = "stop"};
    struct ep_session dvm;
    const char *word = NULL;

    if (!is_stop(argv[2]) || argc > 4 || (argc == 4 && argv[3][0] == '-'))
        usage("--stop takes no other option, and at most one dvm");
    if (argv[2][strlen("--stop")] == '=')
        word = argv[2] + strlen("--stop=");
    if (argc == 4) {
        if (word != NULL)
            usage("--stop takes one dvm, not '%s' and '%s'", word, argv[3]);
        word = argv[3];
    }
    return choose_dvm(word, &use, &dvm) == 0 ? end_dvm(&dvm) : 1;
}

/* --- starting a dvm */

static void refuse_stop(const char *value, void *into)
{
    (void)value;
    (void)into;
    usage("--stop takes no other option");
}

int dvm_main(int argc, char **argv)
{
    static const struct option_row own[] = {
        {"report-uri", 0, "FILE",
         "write the address for tools to FILE (-: stdout) when they can come",
         OF_TREE, WORDS(report_uri)},
        {"stop", 0, "WHICH",
         "end the dvm that runs, or the one with this process number or name",
         OF_TREE, READ(refuse_stop), .is_optional = true},
        {0}};
    static struct ep_run_options options;
    static const char *const daemon[] = {"xylemd", NULL};
    static const struct run_command command = {
        .name = "xylem dvm",
        .doc = "Start a tree of daemons and keep it up, without a job of its "
               "own: `xylem run --dvm' and PMIx tools start jobs in it, until "
               "it is told to end.",
        .more = {.rows = own, .into = &options, .is_apart = true},
        .sets = OF_TREE,
        .desk = run_pmix_desk,
        .pmix_allow = run_pmix_allow,
        .takes = RUN_NO_PROGRAMS};

    usage_command = "dvm";
    if (find_word(argc, argv, is_stop) != NULL) {
        char *words[] = {argv[0], argv[1], find_word(argc, argv, is_question),
                         NULL};

        if (words[2] == NULL)
            return stop_dvm(argc, argv);
        /* This ends the program. */
        run_options_parse(3, words, &command, &options);
    }
    run_options_parse(argc, argv, &command, &options);
    options.is_dvm = true;
    options.stdin_ranks = "none";
    options.apps[0].program.argv = daemon;
    return ep_run(&options);
}
