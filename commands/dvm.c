/* `xylem dvm`. */
#include "commands/commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/beside.h"
#include "commands/choose.h"
#include "commands/refuse.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "endpoints/sys/beside.h"

#define OPTION_INTO struct ep_run_options

enum { LOOK_MS = 50 };

/* --- the end of a running one */

static const struct dvm_use use = {.option = "dvm --stop", .verb = "stop"};

/* The number may have gone to another process since its file was read: whoever
 * has it, has it as long as this descriptor is open, and the file goes with the
 * dvm. */
static bool is_still(pid_t pid)
{
    char word[32];

    snprintf(word, sizeof(word), "%d", (int)pid);
    return choose_dvm(word, &use) != NULL;
}

static void wait_gone(pid_t pid, int fd)
{
    struct pollfd gone = {.fd = fd, .events = POLLIN};

    while (poll(&gone, 1, fd < 0 ? LOOK_MS : -1) <= 0) {
        if (fd < 0 && kill(pid, 0) != 0)
            return;
    }
}

static int end(pid_t pid)
{
    int fd = server_watch(pid);

    if (!is_still(pid))
        return 1;
    if (kill(pid, SIGTERM) == 0)
        wait_gone(pid, fd);
    else if (errno != ESRCH)
        return refuse("process %d: %s", (int)pid, strerror(errno));
    return 0;
}

static bool is_stop(const char *word)
{
    return strcmp(word, "--stop") == 0 || strncmp(word, "--stop=", 7) == 0;
}

/* Do the words say it? --help goes before. */
static bool is_stop_meant(int argc, char **argv)
{
    bool is_meant = false;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return false;
        is_meant |= is_stop(argv[i]);
    }
    return is_meant;
}

/* Finds the dvm, tells it to end, and waits until it is gone. */
static int stop(int argc, char **argv)
{
    const struct server *found;
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
    choose_wait_dvms();
    found = choose_dvm(word, &use);
    return found != NULL ? end(found->pid) : 1;
}

/* --- a new one */

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
    static char name[] = "xylem dvm";
    static const struct run_command command = {
        .name = name,
        .doc = "Start a tree of daemons and keep it up, without a job of its "
               "own: `xylem run --dvm' and PMIx tools start jobs in it, until "
               "it is told to end.",
        .more = {.rows = own, .into = &options, .is_apart = true},
        .sets = OF_TREE,
        .tap = &run_pmix_tap,
        .pmix_allow = run_pmix_allow,
        .takes = RUN_NO_PROGRAMS};
    char helper[EP_BESIDE_MAX];

    usage_command = "dvm";
    if (is_stop_meant(argc, argv))
        return stop(argc, argv);
    run_options_parse(argc, argv, &command, &options);
    /* Without it there would be a tree that nobody can use. */
    if (beside_need(BESIDE_SERVER, helper) != 0)
        return 1;
    options.is_dvm = true;
    options.stdin_ranks = "none";
    options.apps[0].program.argv = daemon;
    return ep_run(&options);
}
