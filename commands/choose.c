/* Choosing a session. */
#include "commands/choose.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"

enum {
    LOOK_MS = 50,
    TELL_MS = 1000,
    WAIT_MS = EP_SESSIONS_S * 1000,
    DOOR_MS = 5000, /* one that is named has its door within that time, */
    SOON_MS = 500,  /* and where none is one may just have been started */
    COMM_BYTES = 64,
};

static struct ep_session sessions[EP_SESSIONS_MAX];

/* Some time before the next look; it is told on stderr after a second for whom.
 * False: it was waited for long enough. */
static bool wait_a_moment(pid_t pid, int most_ms, int *waited_ms)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};

    if (*waited_ms >= most_ms)
        return false;
    if (*waited_ms == TELL_MS)
        fprintf(stderr, "xylem: waiting for process %d to open its door\n",
                (int)pid);
    nanosleep(&look, NULL);
    *waited_ms += LOOK_MS;
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

/* What it has said: 0, or 1 after saying what is wrong with it. */
static int check_answer(const struct ep_session *session)
{
    if (session->answer.kind == JOB_DOOR_WELCOME)
        return 0;
    if (session->answer.kind == 0)
        return refuse("process %d does not answer (is it stopped?)",
                      (int)session->pid);
    return refuse("%s", session->answer.text);
}

/* One that has just begun has no door yet. Of root any user's. False: there is
 * none, and nothing was said. */
static bool find_pid(pid_t pid)
{
    int waited_ms = 0;
    uid_t uid;

    do {
        if (!ep_process_owner(pid, &uid) ||
            (uid != geteuid() && geteuid() != 0))
            return false;
        if (ep_sessions_open(uid, pid, sessions) > 0)
            return true;
    } while (is_xylem(pid) && wait_a_moment(pid, DOOR_MS, &waited_ms));
    return false;
}

/* What was to be done with it, for messages. */
struct deed {
    const char *what;   /* as in "stop it" */
    const char *option; /* as in "xylem attach" */
    const char *thing;  /* it is none */
};

static int refuse_pid(pid_t pid, const struct deed *deed)
{
    uid_t uid;

    if (!ep_process_owner(pid, &uid))
        return refuse("there is no process %d: it has ended, or never was "
                      "(`xylem %s' by itself looks for the one that runs)",
                      (int)pid, deed->option);
    if (uid != geteuid() && geteuid() != 0)
        return refuse_owner(pid, uid, deed->what);
    if (!is_xylem(pid))
        return refuse("process %d is no %s", (int)pid, deed->thing);
    return refuse("process %d is no %s that can be found: it has no door, "
                  "which it says with -v, or another XDG_RUNTIME_DIR than this",
                  (int)pid, deed->thing);
}

/* --- by name */

static bool has_name(const struct ep_session *session, const char *nspace)
{
    size_t len = strlen(session->answer.text);

    return strncmp(session->answer.text, nspace, len) == 0 &&
           (nspace[len] == '\0' || nspace[len] == '.');
}

/* The first one is meant. */
static void close_others(unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        ep_session_close(&sessions[i]);
}

/* All of the user that answer, those of this name alone where one is given, and
 * dvms alone. */
static unsigned list(const char *nspace, bool are_dvms)
{
    unsigned count = ep_sessions_open(geteuid(), 0, sessions), left = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct ep_session *one = &sessions[i];
        bool is_meant = one->answer.kind == JOB_DOOR_WELCOME &&
                        (!are_dvms || one->answer.is_dvm) &&
                        (nspace == NULL || has_name(one, nspace));

        if (is_meant)
            sessions[left++] = sessions[i];
        else
            ep_session_close(&sessions[i]);
    }
    return left;
}

static unsigned list_soon(bool are_dvms)
{
    int waited_ms = 0;
    unsigned count;

    do
        count = list(NULL, are_dvms);
    while (count == 0 && wait_a_moment(0, SOON_MS, &waited_ms));
    return count;
}

static void show(const char *option, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "  %s%d   (%s)\n", option, (int)sessions[i].pid,
                sessions[i].answer.text);
}

/* --- a launcher */

static int find_launcher(pid_t pid)
{
    static const struct deed deed = {
        .what = "attach to it", .option = "attach", .thing = "xylem run"};

    return find_pid(pid) ? check_answer(&sessions[0]) : refuse_pid(pid, &deed);
}

static int find_nspace(const char *nspace)
{
    unsigned count = list(nspace, false);
    const struct job_door *answer = &sessions[0].answer;

    if (count == 0)
        return refuse("no job %s runs on this machine that you may attach to: "
                      "it is over, is somebody else's, or has another "
                      "XDG_RUNTIME_DIR than this",
                      nspace);
    if (answer->is_dvm && strcmp(answer->text, nspace) == 0)
        return refuse("%s is a dvm and no job: `xylem attach --pid %d' shows "
                      "the job that runs in it, or lists them",
                      nspace, (int)sessions[0].pid);
    close_others(count);
    return 0;
}

static int find_only(void)
{
    unsigned count = list_soon(false);

    if (count == 1)
        return 0;
    if (count == 0)
        return refuse("no xylem run of yours is running on this machine that "
                      "can be found (--pid and --nspace name one)");
    refuse("%u of your xylem runs are running here: say which one, with "
           "--pid P",
           count);
    show("--pid ", count);
    return 1;
}

/* Also one that lies elsewhere; then its process is not known. */
static int choose_uri(const char *uri, struct chosen *out)
{
    char name[JOB_DOOR_TEXT_MAX];
    const char *end = strstr(uri, "-server.");
    unsigned count;

    if (strchr(uri, ';') == NULL || strlen(uri) >= sizeof(out->uri))
        return refuse("'%s' is no address of a launcher: `xylem run -v' "
                      "prints it, as NAME.0;tcp4://127.0.0.1:PORT",
                      uri);
    *out = (struct chosen){.pid = 0};
    strcpy(out->uri, uri);
    snprintf(name, sizeof(name), "%.*s", end != NULL ? (int)(end - uri) : 0,
             uri);
    count = list(name, false);
    if (count > 0) {
        out->pid = sessions[0].pid;
        close_others(count);
        ep_session_close(&sessions[0]);
    }
    return 0;
}

int choose_launcher(const struct choose_by *by, struct chosen *out)
{
    int rc;

    if (by->uri != NULL)
        return choose_uri(by->uri, out);
    if (by->pid != 0)
        rc = find_launcher(by->pid);
    else
        rc = by->nspace != NULL ? find_nspace(by->nspace) : find_only();
    return rc == 0 ? choose_address(&sessions[0], out) : rc;
}

/* --- a dvm */

static int find_dvm(pid_t pid, const struct dvm_use *use)
{
    char what[32];
    const struct deed deed = {
        .what = what, .option = use->option, .thing = "dvm"};

    snprintf(what, sizeof(what), "%s it", use->verb);
    if (!find_pid(pid))
        return refuse_pid(pid, &deed);
    if (check_answer(&sessions[0]) != 0)
        return 1;
    return sessions[0].answer.is_dvm
               ? 0
               : refuse("process %d is no dvm: it has a job of its own",
                        (int)pid);
}

static int find_named_dvm(const char *name, const struct dvm_use *use)
{
    unsigned count = list(name, true);

    if (count == 0 || strcmp(sessions[0].answer.text, name) != 0)
        return refuse("no dvm %s runs on this machine that you may %s: it has "
                      "ended, is somebody else's (root names its process), or "
                      "has another XDG_RUNTIME_DIR than this",
                      name, use->verb);
    close_others(count);
    return 0;
}

static int find_only_dvm(const struct dvm_use *use)
{
    unsigned count = list_soon(true);
    char option[32];

    if (count == 1)
        return 0;
    if (count == 0)
        return refuse("no dvm of yours is up on this machine (with this "
                      "XDG_RUNTIME_DIR)");
    refuse("%u of your dvms are up here: say which one", count);
    snprintf(option, sizeof(option), "xylem %s=", use->option);
    show(option, count);
    return 1;
}

int choose_dvm(const char *word, const struct dvm_use *use,
               struct ep_session *out)
{
    int rc;

    if (word == NULL)
        rc = find_only_dvm(use);
    else if (ep_process_number(word) > 0)
        rc = find_dvm(ep_process_number(word), use);
    else
        rc = find_named_dvm(word, use);
    *out = sessions[0];
    return rc;
}

/* --- where its tools connect */

static int await_address(struct ep_session *session)
{
    int rc = ep_session_hear(session, TELL_MS, &session->answer);

    if (rc != OV_EFULL)
        return rc;
    fprintf(stderr, "xylem: waiting for process %d to let tools in\n",
            (int)session->pid);
    return ep_session_hear(session, WAIT_MS - TELL_MS, &session->answer);
}

int choose_address(struct ep_session *session, struct chosen *out)
{
    const struct job_door ask = {.kind = JOB_DOOR_ADDRESS};
    int rc = ep_session_say(session, &ask);

    if (rc == 0)
        rc = await_address(session);
    ep_session_close(session);
    if (rc == OV_EFULL)
        return refuse("process %d does not let tools in (-v of it says why)",
                      (int)session->pid);
    if (rc != 0)
        return refuse("process %d has just ended", (int)session->pid);
    if (session->answer.kind != JOB_DOOR_TOOLS)
        return refuse("%s", session->answer.text);
    out->pid = session->pid;
    strcpy(out->uri, session->answer.text);
    return 0;
}
