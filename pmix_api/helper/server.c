/* The PMIx server: upcalls of libpmix, in its own thread.
 *
 * A blocking call of the library from here would wait for itself.
 */
#include "pmix_api/helper/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix_server.h>

#include "pmix_api/folder.h"
#include "pmix_api/helper/control.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/kept.h"
#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/push.h"
#include "pmix_api/helper/query.h"
#include "pmix_api/helper/spawn.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/target.h"
#include "pmix_api/helper/tools.h"
#include "pmix_api/helper/turn.h"
#include "pmix_api/helper/wish.h"

extern char **environ; /* PMIx 5 does not declare it */

static struct {
    pmix_proc_t self;
    char host[256];
    char folder[PX_PATH_MAX + 8];
    char uri[512];
    char why[256]; /* it cannot be opened */
    uint16_t port;
} server;

const char *px_server_uri(void)
{
    return server.uri;
}

uint16_t px_server_port(void)
{
    return server.port;
}

/* --- tools come and go */

static void on_forgotten(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    px_pulls_probe();
}

/* The library forgets the tool's requests by itself, but its namespace, with
 * all who have it, only when told to; once for each tool that had it. */
static void forget(const struct px_gone *gone)
{
    const pmix_proc_t *tool = &gone->name;

    px_push_forget(tool);
    px_forward_leave(tool);
    px_spawn_forget(tool);
    px_talk_note("PMIx tool %s.%u has gone", tool->nspace, tool->rank);
    for (unsigned i = 0; i < gone->entries; i++)
        PMIx_server_deregister_nspace(tool->nspace, on_forgotten, NULL);
    px_pulls_probe();
    if (px_tools_count() == 0)
        px_talk_kind(PX_QUIET);
}

/* In the library's thread: else a tool could come in by a name while that is
 * being forgotten. */
static void reap(pmix_status_t status, void *arg)
{
    struct px_gone gone;

    (void)status;
    (void)arg;
    while (px_tools_reap(&gone))
        forget(&gone);
}

void px_server_reap(void)
{
    px_turn(reap, NULL);
}

static void on_tool(pmix_info_t *info, size_t infos,
                    pmix_tool_connection_cbfunc_t answer, void *arg)
{
    pmix_proc_t given = {.rank = PMIX_RANK_UNDEF}, name;

    for (size_t i = 0; i < infos; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_NSPACE))
            PMIX_LOAD_NSPACE(given.nspace, info[i].value.data.string);
        else if (PMIX_CHECK_KEY(&info[i], PMIX_RANK))
            given.rank = info[i].value.data.rank;
    }
    reap(PMIX_SUCCESS, NULL); /* their places and names are free */
    /* Whoever is refused gets no answer: any but success, and the library
     * falls over it. */
    if (px_tools_admit(given.nspace[0] != '\0' ? &given : NULL, &name)) {
        px_talk_kind(PX_TOOL);
        answer(PMIX_SUCCESS, &name, arg);
    }
}

static void on_lost(size_t handler, pmix_status_t status,
                    const pmix_proc_t *source, pmix_info_t info[], size_t infos,
                    pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)source;
    (void)info;
    (void)infos;
    (void)results;
    (void)nresults;
    reap(status, NULL);
    px_pulls_probe(); /* its place may have been free before */
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* --- pull */

enum {
    OUTPUT = PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL |
             PMIX_FWD_STDDIAG_CHANNEL,
};

/* The library matches output by rank, and knows no name for many but the
 * wildcard. */
static pmix_status_t judge_names(const pmix_proc_t procs[], size_t nprocs)
{
    for (size_t i = 0; i < nprocs; i++) {
        if (procs[i].rank != PMIX_RANK_LOCAL_NODE &&
            procs[i].rank != PMIX_RANK_LOCAL_PEERS)
            continue;
        px_talk_note("a pull is refused: %s is no target of it: name ranks, or "
                     "all",
                     procs[i].rank == PMIX_RANK_LOCAL_NODE
                         ? "PMIX_RANK_LOCAL_NODE"
                         : "PMIX_RANK_LOCAL_PEERS");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

/* Stdin cannot be pulled; a mask of all channels means those that can. */
static pmix_status_t judge_channels(pmix_iof_channel_t channels)
{
    if (channels == PMIX_FWD_ALL_CHANNELS)
        return PMIX_SUCCESS;
    return channels != 0 && (channels & ~OUTPUT) == 0 ? PMIX_SUCCESS
                                                      : PMIX_ERR_BAD_PARAM;
}

/* The directive of a spawn that one of these channels is missing. */
static const char *name_forward(pmix_iof_channel_t channels)
{
    if (channels & PMIX_FWD_STDOUT_CHANNEL)
        return "PMIX_FWD_STDOUT";
    return channels & PMIX_FWD_STDERR_CHANNEL ? "PMIX_FWD_STDERR"
                                              : "PMIX_FWD_STDDIAG";
}

/* What its job was started without is not to be had, and nothing of daemons. */
static pmix_status_t judge_forwards(const pmix_proc_t procs[], size_t nprocs,
                                    pmix_iof_channel_t channels)
{
    struct px_job job;

    for (size_t i = 0; i < nprocs; i++) {
        pmix_iof_channel_t missing;

        if (!px_job_find(procs[i].nspace, &job))
            continue;
        if (px_job_is_daemons(&job)) {
            px_talk_note("a pull is refused: %s is this dvm, whose daemons "
                         "have no output",
                         job.nspace);
            return PMIX_ERR_NOT_SUPPORTED;
        }
        missing = (pmix_iof_channel_t)(channels & OUTPUT & ~job.forwards);
        if (missing == 0)
            continue;
        px_talk_note("a pull is refused: %s was not started with %s",
                     job.nspace, name_forward(missing));
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

/* Of no process: a handler was deregistered, as the library then says; else it
 * is a pull that nothing would ever come of. */
static pmix_status_t stop(const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndirs; i++) {
        if (!PMIX_CHECK_KEY(&directives[i], PMIX_IOF_STOP))
            continue;
        px_pulls_probe();
        return PMIX_OPERATION_SUCCEEDED;
    }
    return PMIX_ERR_BAD_PARAM;
}

/* Success by itself would be used after it is freed, in the library. */
static pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs,
                             const pmix_info_t directives[], size_t ndirs,
                             pmix_iof_channel_t channels,
                             pmix_op_cbfunc_t answer, void *arg)
{
    struct px_targets targets;
    pmix_status_t rc;

    (void)answer;
    (void)arg;
    if (procs == NULL || nprocs == 0)
        return stop(directives, ndirs);
    rc = judge_channels(channels);
    if (rc == PMIX_SUCCESS)
        rc = px_wish_judge(directives, ndirs);
    if (rc != PMIX_SUCCESS)
        return rc;
    rc = judge_names(procs, nprocs);
    if (rc == PMIX_SUCCESS)
        rc = judge_forwards(procs, nprocs, channels);
    if (rc != PMIX_SUCCESS)
        return rc;
    rc = px_targets_find(procs, nprocs, &targets);
    if (rc == PMIX_SUCCESS)
        rc = px_pulls_add(&targets, directives, ndirs, channels);
    px_targets_end(&targets);
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* --- start */

/* What another host of PMIx has told the launcher is not for its server: names,
 * addresses, pipes, files. Settings of the library are. */
static void forget_host(void)
{
    static const char prefix[] = "PMIX_", setting[] = "PMIX_MCA_";
    char name[256];

    for (char **at = environ; *at != NULL;) {
        size_t len = strcspn(*at, "=");

        if (strncmp(*at, prefix, strlen(prefix)) != 0 ||
            strncmp(*at, setting, strlen(setting)) == 0 ||
            len >= sizeof(name)) {
            at++;
            continue;
        }
        memcpy(name, *at, len);
        name[len] = '\0';
        unsetenv(name); /* the next one is at its place */
    }
}

/* The library's own settings: see docs/pmix.md. What the user has set holds,
 * but for what keeps it alive. */
static void set_up(void)
{
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_pmix_max_iof_cache", "1", 1);
    /* Logs for stdout and stderr are the launcher's to show. */
    setenv("PMIX_MCA_plog", "^stdfd", 1);
    /* Events are there for late listeners as long as the job is known. */
    setenv("PMIX_MCA_pmix_event_eviction_time", "1000000000", 1);
    setenv("PMIX_MCA_pmix_max_events", KEPT_EVENTS_MAX, 0);
}

static pmix_status_t init(const char *folder)
{
    static pmix_server_module_t module = {
        .tool_connected = on_tool,
        .iof_pull = on_pull,
        .push_stdin = px_push,
        .query = px_query,
        .job_control = px_control,
        .log = px_log,
        .spawn = px_spawn,
    };
    enum { INFOS = 9 };
    pmix_info_t info[INFOS];
    bool yes = true, no = false;
    pmix_rank_t rank = 0;
    pmix_status_t rc;

    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, server.self.nspace,
                   PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[2], PMIX_HOSTNAME, server.host, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[5], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[6], PMIX_SERVER_SESSION_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[7], PMIX_SERVER_GATEWAY, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[8], PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL);
    rc = PMIx_server_init(&module, info, INFOS);
    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc;
}

static const char *explain(const char *what, const char *why)
{
    snprintf(server.why, sizeof(server.why), "%s: %s", what, why);
    return server.why;
}

/* What the library has written of itself: its address, after which others go
 * by names that a user knows. */
static const char *read_uri(const char *folder, uint32_t launcher_pid)
{
    char own[2048], by_pid[2048], by_job[2048];
    FILE *file;
    char *colon;

    snprintf(own, sizeof(own), "%s/pmix.%s.tool.%s", folder, server.host,
             server.self.nspace);
    snprintf(by_pid, sizeof(by_pid), "%s/pmix.%s.tool.%u", folder, server.host,
             launcher_pid);
    snprintf(by_job, sizeof(by_job), "%s/pmix.%s.tool.%s", folder, server.host,
             px_job_own());
    file = fopen(own, "r");
    if (file == NULL)
        return explain("its rendezvous file is missing", strerror(errno));
    if (fgets(server.uri, sizeof(server.uri), file) == NULL)
        server.uri[0] = '\0';
    fclose(file);
    if (server.uri[0] == '\0')
        return "its rendezvous file is empty, as where TMPDIR is full";
    server.uri[strcspn(server.uri, "\n")] = '\0';
    colon = strrchr(server.uri, ':');
    server.port = (uint16_t)(colon != NULL ? atoi(colon + 1) : 0);
    if (server.port == 0)
        return "its rendezvous file names no port";
    if (link(own, by_pid) != 0 || link(own, by_job) != 0)
        return explain("its rendezvous file cannot be linked", strerror(errno));
    return NULL;
}

const char *px_server_open(const char *folder, uint32_t launcher_pid,
                           uint8_t allow)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    pmix_status_t rc;
    const char *why;

    if (gethostname(server.host, sizeof(server.host) - 1) != 0)
        strcpy(server.host, "localhost");
    snprintf(server.self.nspace, sizeof(server.self.nspace), "%.200s-server",
             px_job_own());
    forget_host();
    set_up();
    snprintf(server.folder, sizeof(server.folder), "%s/server", folder);
    if (mkdir(server.folder, 0700) != 0)
        return explain("its folder cannot be made", strerror(errno));
    rc = init(server.folder);
    if (rc != PMIX_SUCCESS)
        return explain("libpmix cannot start", PMIx_Error_string(rc));
    why = read_uri(server.folder, launcher_pid);
    if (why != NULL)
        return why;
    px_tools_open(server.port, allow);
    PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, NULL, NULL);
    return NULL;
}
