/* Finds the session that the user means. */
#include "commands/choose.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"

enum {
    LOOK_MS = 50,
    TELL_MS = 1000,
    WAIT_MS = EP_SESSIONS_ALONE_S * 1000,
    DOOR_MS = 5000, /* how long to wait until a session that is named by its pid
                       has its door */
    SOON_MS = 500,  /* how long to wait for a session that may have been started
                       just now */
    COMM_BYTES = 64,
};

static struct ep_sessions found;

/* Moves the session that is meant to *out, and closes the other sessions of the
 * list. */
static void keep_session(struct ep_session *session, struct ep_session *out)
{
    *out = *session;
    ep_sessions_close(&found, session);
}

/* Waits a moment before the next look for the session. With a pid it prints
 * after a second that it waits. False: most_ms have passed since begin_ns. */
static bool wait_a_moment(pid_t pid, uint64_t begin_ns, int most_ms)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    static bool is_told;
    int waited_ms = (int)((ep_clock_ns() - begin_ns) / 1000000);

    if (waited_ms >= most_ms)
        return false;
    if (pid != 0 && waited_ms >= TELL_MS && !is_told) {
        fprintf(stderr, "xylem: waiting for process %d to accept connections\n",
                (int)pid);
        is_told = true;
    }
    nanosleep(&look, NULL);
    return true;
}

/* --- by process number */

static bool is_xylem(pid_t pid)
{
    char path[COMM_BYTES], name[COMM_BYTES];

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    return ep_process_read(path, name, sizeof(name)) > 0 &&
           (strcmp(name, "xylem\n") == 0 || strcmp(name, "lt-xylem\n") == 0);
}

/* Checks the session's answer. Returns 0, or 1 after printing what is wrong
 * with it. */
static int check_answer(const struct ep_session *session)
{
    if (session->answer.kind == JOB_DOOR_WELCOME)
        return 0;
    if (session->answer.kind == 0)
        return refuse("process %d does not answer (is it stopped?)",
                      (int)session->number);
    return refuse("%s", session->answer.text);
}

/* Looks for the session with this pid, which `found` then has; root finds
 * sessions of all users. A session that has just begun has no door yet, and its
 * process first has the name of the program that started it. Waits for its
 * answer as ep_sessions_open() says. Returns false, without a message, when
 * there is no session yet. */
static bool look_for(pid_t pid, int most_ms)
{
    const uint64_t begin_ns = ep_clock_ns();
    uid_t uid;

    do {
        if (!ep_process_owner(pid, &uid) ||
            (uid != geteuid() && geteuid() != 0))
            return false;
        ep_sessions_open(uid, pid, most_ms, &found);
        if (found.count > 0)
            return true;
    } while (wait_a_moment(pid, begin_ns, is_xylem(pid) ? DOOR_MS : SOON_MS));
    return false;
}

static bool find_pid(pid_t pid, struct ep_session *out)
{
    if (!look_for(pid, 0))
        return false;
    keep_session(&found.at[0], out);
    return true;
}

/* What the user wants to do with the session, for messages. */
struct deed {
    const char *what;   /* what the user wants to do, for messages: for example
                         * "stop it" */
    const char *option; /* the option or command, for example "xylem attach" */
    const char *thing;  /* what the process should be, but is not */
};

static int refuse_pid(pid_t pid, const struct deed *deed)
{
    uid_t uid;

    if (!ep_process_owner(pid, &uid))
        return refuse(
            "there is no process %d: it has ended, or the number is wrong "
            "(`xylem %s' without a number finds the one that runs)",
            (int)pid, deed->option);
    if (uid != geteuid() && geteuid() != 0)
        return refuse_owner(pid, uid, deed->what);
    if (!is_xylem(pid))
        return refuse("process %d is not a %s", (int)pid, deed->thing);
    return refuse("process %d is not a %s that can be found: it has no socket "
                  "(start it with -v to see why), or was started with another "
                  "XDG_RUNTIME_DIR",
                  (int)pid, deed->thing);
}

/* --- by name */

/* True when the session, or a job that was started in it, has this name. */
static bool has_name(const struct ep_session *session, const char *nspace)
{
    size_t len = strlen(session->answer.text);

    return session->answer.kind == JOB_DOOR_WELCOME &&
           strncmp(session->answer.text, nspace, len) == 0 &&
           (nspace[len] == '\0' || nspace[len] == '.');
}

static struct ep_session *find_name(const char *nspace)
{
    ep_sessions_open(geteuid(), 0, 0, &found);
    for (unsigned i = 0; i < found.count; i++) {
        if (has_name(&found.at[i], nspace))
            return &found.at[i];
    }
    return NULL;
}

/* Prints the sessions that do not answer: the user may mean any of them. */
static void show_silent(void)
{
    for (unsigned i = 0; i < found.count; i++) {
        const struct ep_session *one = &found.at[i];

        if (one->answer.kind != JOB_DOOR_WELCOME)
            fprintf(stderr, "  process %d: %s\n", (int)one->number,
                    one->answer.kind == 0 ? "does not answer"
                                          : one->answer.text);
    }
}

/* --- the only session */

static bool may_be(const struct ep_session *session, bool is_dvm)
{
    return session->answer.kind != JOB_DOOR_WELCOME || !is_dvm ||
           session->answer.is_dvm;
}

static unsigned count_all(bool are_dvms)
{
    unsigned count = 0;

    for (unsigned i = 0; i < found.count; i++)
        count += may_be(&found.at[i], are_dvms);
    return count;
}

/* Lists and counts the sessions. When there are none it looks again for
 * SOON_MS, as a session may have been started just now. */
static unsigned list_soon(bool are_dvms)
{
    const uint64_t begin_ns = ep_clock_ns();
    unsigned count;

    do {
        ep_sessions_close(&found, NULL);
        ep_sessions_open(geteuid(), 0, 0, &found);
        count = count_all(are_dvms);
    } while (count == 0 && wait_a_moment(0, begin_ns, SOON_MS));
    return count;
}

static int keep_only(bool is_dvm, struct ep_session *out)
{
    struct ep_session *only = found.at;

    while (!may_be(only, is_dvm))
        only++;
    keep_session(only, out);
    return check_answer(out);
}

static int show_all(bool are_dvms, const char *option)
{
    for (unsigned i = 0; i < found.count; i++) {
        const struct ep_session *one = &found.at[i];

        if (may_be(one, are_dvms) && one->answer.kind == JOB_DOOR_WELCOME)
            fprintf(stderr, "  %s%d   (%s)\n", option, (int)one->number,
                    one->answer.text);
    }
    show_silent();
    return 1;
}

/* --- commands that need a launcher */

static int find_launcher(pid_t pid, struct ep_session *out)
{
    const struct deed deed = {
        .what = "attach to it", .option = usage_command, .thing = "xylem run"};

    return find_pid(pid, out) ? check_answer(out) : refuse_pid(pid, &deed);
}

static int find_nspace(const char *nspace, struct ep_session *out)
{
    struct ep_session *one = find_name(nspace);

    if (one == NULL) {
        refuse("no job %s runs on this machine that you may attach to: it "
               "is over, belongs to another user, or was started with "
               "another XDG_RUNTIME_DIR",
               nspace);
        show_silent();
        return 1;
    }
    if (one->answer.is_dvm && strcmp(one->answer.text, nspace) == 0)
        return refuse("%s is a dvm, not a job: `xylem %s --pid %d' shows "
                      "the job that runs in it, or lists them",
                      nspace, usage_command, (int)one->number);
    keep_session(one, out);
    return 0;
}

static int find_only(struct ep_session *out)
{
    unsigned count = list_soon(false);

    if (count == 0)
        return refuse("no xylem run of yours is running on this machine that "
                      "can be found (--pid and --nspace name one)");
    if (count == 1)
        return keep_only(false, out);
    refuse("%u of your xylem runs are running here: say which one, with "
           "--pid P",
           count);
    return show_all(false, "--pid ");
}

/* Finds the session with this address for tools, which contains the session's
 * name. NULL: the user has no such session, or (*is_none) the text is no
 * address. */
static struct ep_session *find_uri(const char *uri, bool *is_none)
{
    const char *end = strstr(uri, "-server.");
    char name[JOB_DOOR_TEXT_MAX];

    *is_none = strchr(uri, ';') == NULL || strlen(uri) >= sizeof(name);
    if (*is_none)
        refuse("'%s' is not the address of a launcher: `xylem run -v' prints "
               "it, as NAME.0;tcp4://127.0.0.1:PORT",
               uri);
    if (*is_none || end == NULL)
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)(end - uri), uri);
    return find_name(name);
}

static int find_address(const char *uri, struct ep_session *out)
{
    bool is_none;
    struct ep_session *one = find_uri(uri, &is_none);

    if (is_none)
        return 1;
    if (one == NULL)
        return refuse("cannot connect to the launcher at '%s': it has ended, "
                      "belongs to another user, or was started with another "
                      "XDG_RUNTIME_DIR",
                      uri);
    keep_session(one, out);
    return 0;
}

int choose_launcher(const struct choose_by *by, struct ep_session *out)
{
    if (by->uri != NULL)
        return find_address(by->uri, out);
    if (by->pid != 0)
        return find_launcher(by->pid, out);
    return by->nspace != NULL ? find_nspace(by->nspace, out) : find_only(out);
}

bool choose_again(const struct ep_session *session, struct ep_session *out)
{
    uid_t uid = geteuid();

    (void)ep_process_owner(session->pid, &uid);
    ep_sessions_open(uid, session->number, 0, &found);
    if (found.count == 0)
        return false;
    keep_session(&found.at[0], out);
    if (out->answer.kind == JOB_DOOR_WELCOME)
        return true;
    ep_session_close(out);
    return false;
}

/* --- commands that need a dvm */

static int check_dvm(const struct ep_session *session)
{
    return session->answer.is_dvm
               ? 0
               : refuse("process %d is not a dvm but a `xylem run'",
                        (int)session->number);
}

static int find_dvm(pid_t pid, const struct dvm_use *use,
                    struct ep_session *out)
{
    char what[32];
    const struct deed deed = {
        .what = what, .option = use->option, .thing = "dvm"};

    snprintf(what, sizeof(what), "%s it", use->verb);
    if (!find_pid(pid, out))
        return refuse_pid(pid, &deed);
    return check_answer(out) != 0 || check_dvm(out) != 0;
}

static int find_named_dvm(const char *name, const struct dvm_use *use,
                          struct ep_session *out)
{
    struct ep_session *one = find_name(name);

    if (one != NULL && one->answer.is_dvm &&
        strcmp(one->answer.text, name) == 0) {
        keep_session(one, out);
        return 0;
    }
    refuse("no dvm %s runs on this machine that you may %s: it has "
           "ended, belongs to another user (root must give its process "
           "number), or was started with another XDG_RUNTIME_DIR",
           name, use->verb);
    show_silent();
    return 1;
}

static int find_only_dvm(const struct dvm_use *use, struct ep_session *out)
{
    unsigned count = list_soon(true);
    char option[32];

    if (count == 1)
        return keep_only(true, out);
    if (count == 0)
        return refuse("no dvm of yours is up on this machine (with this "
                      "XDG_RUNTIME_DIR)");
    refuse("%u of your dvms are up here: say which one", count);
    snprintf(option, sizeof(option), "xylem %s=", use->option);
    return show_all(true, option);
}

int choose_dvm(const char *word, const struct dvm_use *use,
               struct ep_session *out)
{
    if (word == NULL)
        return find_only_dvm(use, out);
    if (strchr(word, ';') != NULL)
        return find_address(word, out) != 0 || check_dvm(out) != 0;
    if (ep_process_number(word) > 0)
        return find_dvm(ep_process_number(word), use, out);
    return find_named_dvm(word, use, out);
}

/* --- commands that need all sessions */

int choose_all(pid_t pid, int most_ms, struct ep_sessions *out)
{
    static const struct deed deed = {
        .what = "see its jobs", .option = "ps", .thing = "xylem run or dvm"};

    if (pid == 0)
        ep_sessions_open(geteuid(), 0, most_ms, &found);
    else if (!look_for(pid, most_ms))
        return refuse_pid(pid, &deed);
    *out = found;
    found = (struct ep_sessions){.count = 0};
    return 0;
}
