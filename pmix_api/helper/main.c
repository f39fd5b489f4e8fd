/* The helper of one PMIx tool: pmix_api/helper/tie.h says how it is started. */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/folder.h"
#include "endpoints/sys/limits.h"
#include "endpoints/sys/process.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "pmix_api/folder.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/describer.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/news.h"
#include "pmix_api/helper/orders.h"
#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/push.h"
#include "pmix_api/helper/query.h"
#include "pmix_api/helper/spawns.h"
#include "pmix_api/helper/texts.h"
#include "pmix_api/helper/tie.h"

enum {
    SPACE_BYTES = 1 << 30, /* Limit of the address space; the helper usually
                            * uses a tenth of it. */
    FILES_MAX = 512,       /* limit of open descriptors; each of 128 pulls may
                              have a file */
    /* How many milliseconds to wait for a killed launcher to end. */
    MOMENTS = 2000,
    GREETING_S = 20,
};

struct helper {
    struct event_base *base;
    struct ep_writer *writer;
    struct px_door_way way;
    int doors; /* descriptor of the folder with the session's door */
    pid_t session;
    struct event *tie, *lib;
    struct event *again;    /* timer to check whether the helper may end */
    struct event *greeting; /* timer by which the tool must have been let in */
    struct px_jobs *jobs;
    struct px_pulls *pulls;
    struct px_pushing_tool *pushing;
    struct px_describer *describer;
    struct px_queries *queries;
    struct px_orders *orders;
    struct px_texts *texts;
    struct px_spawns *spawns;
    struct px_news *news;
    bool has_tool, is_in;
};

static int dial(void *arg)
{
    const struct helper *helper = arg;

    return ep_door_dial(helper->doors, helper->session);
}

static void leave(void *arg)
{
    const struct helper *helper = arg;

    event_base_loopbreak(helper->base);
}

/* Ends the helper, after the tool, once everything that the tool has read was
 * reported to the session. */
static void settle(void *arg)
{
    static const struct timeval wait = {.tv_usec = 10 * 1000};
    const struct helper *helper = arg;

    if (px_spawns_are_said(helper->spawns))
        leave(arg);
    else
        event_add(helper->again, &wait);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    settle(arg);
}

/* --- the tool */

/* Refuses the tool, by ending this process and so the tool's connection. */
static void refuse(void *arg)
{
    const struct helper *helper = arg;

    px_jobs_note(
        helper->jobs,
        "a PMIx tool was refused: one with the same name is connected already");
    leave(arg);
}

/* Ends the helper because the tool has not been let in in time. The time
 * suffices for the tool's greeting, and for libpmix to close the connection of
 * a tool without a valid credential. */
static void on_late(evutil_socket_t fd, short what, void *arg)
{
    const struct helper *helper = arg;

    (void)fd;
    (void)what;
    if (helper->is_in && px_lib_has_tool())
        return;
    px_jobs_note(
        helper->jobs,
        "a PMIx tool was refused: libpmix has not accepted it within %d s",
        GREETING_S);
    leave(arg);
}

static void on_tool(void *arg, const struct px_lib_name *wanted)
{
    const struct helper *helper = arg;

    if (wanted != NULL && strcmp(wanted->nspace, PX_LIB_NOBODY) == 0)
        refuse(arg);
    else
        px_jobs_name(helper->jobs, wanted);
}

/* Reports to the launcher that the tool has been let in: from now on the user
 * must be told if the tool is cut off. */
static void on_in(void *arg)
{
    struct helper *helper = arg;

    helper->is_in = true;
    (void)px_tie_say("in");
    px_news_in(helper->news);
}

static void on_pull(void *arg, const struct px_lib_pull *pull)
{
    const struct helper *helper = arg;

    px_pulls_on_pull(helper->pulls, pull);
}

static void on_stop(void *arg)
{
    const struct helper *helper = arg;

    px_pulls_on_stop(helper->pulls);
}

static void on_push(void *arg, const struct px_lib_push *push)
{
    const struct helper *helper = arg;

    px_pushing_on_push(helper->pushing, push);
}

static void on_room(void *arg)
{
    const struct helper *helper = arg;

    px_pulls_on_room(helper->pulls);
}

static void on_gone(void *arg)
{
    const struct helper *helper = arg;
    const struct px_lib_name *tool = px_jobs_tool(helper->jobs);

    event_del(helper->greeting);
    if (tool->nspace[0] != '\0')
        px_jobs_note(helper->jobs, "PMIx tool %s.%u has disconnected",
                     tool->nspace, tool->rank);
    else
        px_jobs_note(helper->jobs,
                     "a PMIx tool has disconnected before it was accepted");
    px_pulls_end(helper->pulls);
}

static void on_query(void *arg, const struct px_lib_query *query)
{
    const struct helper *helper = arg;

    px_queries_on_query(helper->queries, query);
}

static void on_control(void *arg, const struct px_lib_control *control)
{
    const struct helper *helper = arg;

    px_orders_on_control(helper->orders, control);
}

static void on_log(void *arg, const struct px_lib_log *log)
{
    const struct helper *helper = arg;

    px_texts_on_log(helper->texts, log);
}

static void on_note(void *arg, const char *text)
{
    const struct helper *helper = arg;

    px_jobs_note(helper->jobs, "%s", text);
}

static void on_spawn(void *arg, const struct px_lib_spawn *spawn)
{
    const struct helper *helper = arg;

    px_spawns_on_spawn(helper->spawns, spawn);
}

static void on_event(void *arg, const void *mem, size_t len_bytes)
{
    const struct helper *helper = arg;

    px_news_on_event(helper->news, mem, len_bytes);
}

static const struct px_lib_events lib_events = {
    .on_tool = on_tool,
    .on_in = on_in,
    .on_pull = on_pull,
    .on_stop = on_stop,
    .on_push = on_push,
    .on_query = on_query,
    .on_spawn = on_spawn,
    .on_control = on_control,
    .on_log = on_log,
    .on_event = on_event,
    .on_note = on_note,
    .on_room = on_room,
    .on_gone = on_gone,
};

static void on_lib(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    px_lib_turn();
}

/* --- the session and the launcher */

static void on_watched(void *arg)
{
    const struct helper *helper = arg;

    if (px_tie_say(px_lib_rendezvous()) != 0)
        leave(arg);
    event_add(helper->tie, NULL);
}

static void on_named(void *arg, const struct px_lib_name *name)
{
    const struct helper *helper = arg;

    if (name == NULL) {
        refuse(arg);
        return;
    }
    px_jobs_note(helper->jobs, "PMIx tool %s.%u has connected", name->nspace,
                 name->rank);
    px_lib_admit(name);
}

static void on_word(void *arg, const struct job_door *msg)
{
    const struct helper *helper = arg;

    px_describer_on_word(helper->describer, msg);
    px_orders_on_word(helper->orders, msg);
    px_texts_on_word(helper->texts, msg);
    px_news_on_word(helper->news, msg);
    px_spawns_on_word(helper->spawns, msg);
}

/* The session has ended: output and events that it has sent are still delivered
 * to the tool. */
static void on_session_end(void *arg, const char *why)
{
    const struct helper *helper = arg;

    (void)why;
    if (helper->has_tool)
        px_news_end(helper->news);
    else
        leave(arg);
}

static const struct px_jobs_events jobs_events = {
    .on_watched = on_watched,
    .on_named = on_named,
    .on_word = on_word,
    .on_end = on_session_end,
};

/* The tie to the launcher is readable: it has the tool's connection, or the
 * launcher has closed it. */
static void on_tie(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval greeting = {.tv_sec = GREETING_S};
    struct helper *helper = arg;
    int tool = px_tie_take();

    (void)fd;
    (void)what;
    if (tool < 0 || helper->has_tool || px_tie_say("taken") != 0 ||
        px_lib_dial(tool) != 0) {
        px_pulls_end(helper->pulls);
        event_del(helper->tie);
    } else {
        event_add(helper->greeting, &greeting);
    }
    helper->has_tool = true;
}

/* --- start */

static int open_parts(struct helper *helper, const char *dir)
{
    struct px_pulls_cfg pulls = {.way = &helper->way,
                                 .dir = dir,
                                 .answer_ms = PX_PULLS_ANSWER_MS,
                                 .on_settled = settle,
                                 .arg = helper};
    struct px_pushing_cfg pushing = {
        .way = &helper->way, .on_flood = leave, .arg = helper};
    struct px_spawns_cfg spawns = {.way = &helper->way};
    struct px_news_cfg news = {
        .base = helper->base, .on_told = leave, .arg = helper};

    if (ep_writer_open(helper->base, &helper->writer) != 0 ||
        px_jobs_open(&helper->way, &jobs_events, helper, &helper->jobs) != 0)
        return OV_ENOMEM;
    pulls.writer = helper->writer;
    spawns.jobs = helper->jobs;
    pulls.jobs = pushing.jobs = news.jobs = helper->jobs;
    if (px_pulls_open(&pulls, &helper->pulls) != 0 ||
        px_pushing_open(&pushing, &helper->pushing) != 0 ||
        px_describer_open(helper->jobs, &helper->describer) != 0 ||
        px_queries_open(helper->jobs, helper->describer, &helper->queries) !=
            0 ||
        px_orders_open(helper->jobs, helper->describer, &helper->orders) != 0 ||
        px_texts_open(helper->jobs, &helper->texts) != 0)
        return OV_ENOMEM;
    spawns.pulls = news.pulls = helper->pulls;
    if (px_spawns_open(&spawns, &helper->spawns) != 0 ||
        px_news_open(&news, &helper->news) != 0)
        return OV_ENOMEM;
    helper->tie = event_new(helper->base, PX_TIE_FD, EV_READ | EV_PERSIST,
                            on_tie, helper);
    helper->lib = event_new(helper->base, px_lib_fd(), EV_READ | EV_PERSIST,
                            on_lib, helper);
    helper->again = evtimer_new(helper->base, on_again, helper);
    helper->greeting = evtimer_new(helper->base, on_late, helper);
    return helper->tie != NULL && helper->lib != NULL &&
                   helper->again != NULL && helper->greeting != NULL &&
                   event_add(helper->lib, NULL) == 0
               ? 0
               : OV_ENOMEM;
}

static void set_limit(unsigned what, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        (void)setrlimit(what, &limit);
    }
}

static void set_manners(void)
{
    /* Signals to ignore: the helper ends only with its tool or its session.
     * SIGXFSZ is ignored so that a write to a file that must not grow fails. */
    static const int ignored[] = {SIGPIPE, SIGINT,  SIGHUP,  SIGTERM,
                                  SIGQUIT, SIGUSR1, SIGUSR2, SIGXFSZ};
    /* These signals get their default action, so that a crash of libpmix ends
     * the process by a signal, without the report of a sanitizer. */
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        (void)signal(crashes[i], SIG_DFL);
#if !defined(__SANITIZE_ADDRESS__)
    set_limit(RLIMIT_AS, SPACE_BYTES);
#endif
    set_limit(RLIMIT_NOFILE, FILES_MAX);
    set_limit(RLIMIT_CORE, 0);
    ep_limits_keep_memory();
    (void)fcntl(PX_TIE_FD, F_SETFD, FD_CLOEXEC);
}

/* Removes the folder of the launcher if the launcher was killed. When it dies,
 * its door closes a moment before the tie, and the tie a moment before its
 * process ends, so this waits. A launcher that still runs kills a helper
 * without a tool itself, and waits for the end of a helper that has had a tool.
 */
static void clear(const struct helper *helper, const char *folder)
{
    static const struct timespec moment = {.tv_nsec = 1000 * 1000};
    struct pollfd tie = {.fd = PX_TIE_FD};
    const bool is_cut = poll(&tie, 1, helper->has_tool ? 0 : MOMENTS) == 1;

    for (int i = 0; i < MOMENTS && is_cut && getppid() == helper->session; i++)
        nanosleep(&moment, NULL);
    if (px_folder_is_one(folder) && getppid() != helper->session)
        px_folder_remove(folder);
}

int main(int argc, char **argv)
{
    static struct helper helper;
    struct px_lib_cfg lib = {
        .query_keys = px_queries_keys(), .events = &lib_events, .arg = &helper};
    const char *why;

    if (argc != 5)
        return 1;
    set_manners();
    helper.doors = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    helper.session = ep_process_number(argv[2]);
    lib.nspace = argv[3];
    lib.dir = argv[4];
    why = px_lib_open(&lib);
    helper.base = why == NULL ? event_base_new() : NULL;
    helper.way =
        (struct px_door_way){.base = helper.base, .dial = dial, .arg = &helper};
    if (why == NULL &&
        (helper.base == NULL || open_parts(&helper, lib.dir) != 0))
        why = "out of memory";
    if (why != NULL) {
        (void)px_tie_say(why);
        clear(&helper, lib.dir);
        _exit(1);
    }
    event_base_dispatch(helper.base);
    clear(&helper, lib.dir);
    _exit(0); /* not exit(): threads of libpmix are still running */
}
