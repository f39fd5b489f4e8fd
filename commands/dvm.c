/* `xylem dvm`. */
#include "commands/commands.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/beside.h"
#include "commands/attach/servers.h"
#include "commands/refuse.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "endpoints/client/sessions.h"
#include "endpoints/sys/beside.h"

#define OPTION_INTO struct ep_run_options

/* --- the end of a running one */

enum { LOOK_MS = 50 };

static struct ep_session sessions[EP_SESSIONS_MAX];

/* A process number, or 0. */
static pid_t number_of(const char *word)
{
    char *end;
    long pid = strtol(word, &end, 10);

    return *word >= '1' && *word <= '9' && *end == '\0' && pid <= INT_MAX
               ? (pid_t)pid
               : 0;
}

/* Leaves the dvms, of this name where one is given. */
static unsigned only_dvms(unsigned count, const char *name)
{
    unsigned dvms = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct job_door *answer = &sessions[i].answer;
        bool is_meant =
            answer->is_dvm && (name == NULL || strcmp(answer->text, name) == 0);

        if (is_meant)
            sessions[dvms++] = sessions[i];
        else
            ep_sessions_close(&sessions[i], 1);
    }
    return dvms;
}

static int refuse_pid(pid_t pid)
{
    uid_t uid;

    if (!server_owner(pid, &uid))
        return refuse("there is no process %d: it has ended, or never was "
                      "(`xylem dvm --stop' by itself looks for the dvm that "
                      "runs)",
                      (int)pid);
    if (uid != geteuid() && geteuid() != 0)
        return refuse_owner(pid, uid, "stop it");
    return refuse("process %d is no dvm, or has another XDG_RUNTIME_DIR than "
                  "this",
                  (int)pid);
}

/* The dvm that was named by its number; of root any user's. */
static int find_pid(pid_t pid)
{
    uid_t uid = geteuid();
    unsigned count;

    if (geteuid() == 0 && !server_owner(pid, &uid))
        return refuse_pid(pid);
    count = ep_sessions_open(uid, pid, sessions);
    if (count == 1 && sessions[0].answer.kind == 0)
        return refuse("process %d does not answer (is it stopped?)", (int)pid);
    if (count == 1 && sessions[0].answer.kind == JOB_DOOR_REFUSED)
        return refuse("%s", sessions[0].answer.text);
    return only_dvms(count, NULL) == 1 ? 0 : refuse_pid(pid);
}

/* The dvm of this name, or with NULL the only one of the user. */
static int find_named(const char *name)
{
    unsigned count = only_dvms(ep_sessions_open(geteuid(), 0, sessions), name);

    if (count == 1)
        return 0;
    if (count == 0 && name != NULL)
        return refuse("no dvm %s runs on this machine that you may stop: it "
                      "has ended, or has another XDG_RUNTIME_DIR than this "
                      "(one of another user is named by its process number)",
                      name);
    if (count == 0)
        return refuse("no dvm of yours is up on this machine (with this "
                      "XDG_RUNTIME_DIR)");
    refuse("%u of your dvms are up here: say which one", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "  xylem dvm --stop=%d   (%s)\n", (int)sessions[i].pid,
                sessions[i].answer.text);
    return 1;
}

static void wait_gone(pid_t pid, struct pollfd *gone)
{
    while (poll(gone, 1, gone->fd < 0 ? LOOK_MS : -1) <= 0) {
        if (gone->fd < 0 && kill(pid, 0) != 0)
            return;
    }
}

/* It closes the door before it is gone. */
static int end(const struct ep_session *dvm)
{
    const struct job_door stop = {.kind = JOB_DOOR_STOP};
    struct pollfd gone = {.fd = server_watch(dvm->pid), .events = POLLIN};
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
    const char *word = NULL;
    pid_t pid;
    int rc;

    if (!is_stop(argv[2]) || argc > 4 || (argc == 4 && argv[3][0] == '-'))
        usage("--stop takes no other option, and at most one dvm");
    if (argv[2][strlen("--stop")] == '=')
        word = argv[2] + strlen("--stop=");
    if (argc == 4) {
        if (word != NULL)
            usage("--stop takes one dvm, not '%s' and '%s'", word, argv[3]);
        word = argv[3];
    }
    pid = word != NULL ? number_of(word) : 0;
    rc = pid != 0 ? find_pid(pid) : find_named(word);
    return rc == 0 ? end(&sessions[0]) : rc;
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
