/* A job in a dvm. */
#include "commands/submit/job.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "commands/submit/link.h"
#include "endpoints/run/environ.h"
#include "endpoints/run/nodes.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/event.h"

extern char **environ;

enum { WHY_BYTES = 512, INFOS_MAX = 8, CODE_SIGNAL = 128 };

/* The end of a job; which one is ours is known with the answer to the spawn,
 * and the end may come before that. */
struct ended {
    struct ended *next;
    pmix_nspace_t nspace;
    struct job_end end;
};

static struct {
    pthread_mutex_t lock;
    job_wake_fn wake;
    struct ended *ended; /* owned */
    pmix_proc_t all;     /* its processes */
    unsigned untold;     /* signals without an answer */
    char why[WHY_BYTES];
} job = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the library's thread */

static void read_end(const pmix_info_t *info, struct ended *out)
{
    if (PMIX_CHECK_KEY(info, PMIX_NSPACE)) {
        PMIX_LOAD_NSPACE(out->nspace, info->value.data.string);
    } else if (PMIX_CHECK_KEY(info, PMIX_JOB_TERM_STATUS)) {
        out->end.is_lost |= info->value.data.status == PMIX_ERR_JOB_ABORTED;
        out->end.is_signal =
            info->value.data.status == PMIX_ERR_JOB_ABORTED_BY_SIG;
    } else if (PMIX_CHECK_KEY(info, PMIX_PROCID)) {
        out->end.has_failed = true;
        out->end.rank = info->value.data.proc->rank;
    } else if (PMIX_CHECK_KEY(info, PMIX_EXIT_CODE)) {
        out->end.code = info->value.data.integer;
    } else if (PMIX_CHECK_KEY(info, PX_JOB_LOST)) {
        out->end.is_lost = true;
    } else if (PMIX_CHECK_KEY(info, PX_JOB_FAILED)) {
        out->end.failed = info->value.data.uint32;
    }
}

static void on_ended(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    struct ended *one = calloc(1, sizeof(*one));

    (void)handler;
    (void)status;
    (void)source;
    (void)results;
    (void)nresults;
    for (size_t i = 0; one != NULL && i < ninfo; i++)
        read_end(&info[i], one);
    if (one != NULL) {
        if (one->end.is_signal)
            one->end.code -= CODE_SIGNAL;
        pthread_mutex_lock(&job.lock);
        one->next = job.ended;
        job.ended = one;
        pthread_mutex_unlock(&job.lock);
    }
    job.wake();
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_watched(pmix_status_t status, size_t handler, void *arg)
{
    (void)handler;
    (void)arg;
    link_answer(status);
}

static void on_started(pmix_status_t status, char *nspace, void *arg)
{
    (void)arg;
    if (status == PMIX_SUCCESS && nspace != NULL) {
        pthread_mutex_lock(&job.lock);
        PMIX_LOAD_PROCID(&job.all, nspace, PMIX_RANK_WILDCARD);
        pthread_mutex_unlock(&job.lock);
    }
    link_answer(status);
}

static void on_told(pmix_status_t status, pmix_info_t *info, size_t ninfo,
                    void *arg, pmix_release_cbfunc_t release, void *release_arg)
{
    pmix_info_t *order = arg;

    (void)status; /* where it is refused the job is over */
    (void)info;
    (void)ninfo;
    if (release != NULL)
        release(release_arg);
    PMIX_INFO_DESTRUCT(order);
    free(order);
    pthread_mutex_lock(&job.lock);
    job.untold--;
    pthread_mutex_unlock(&job.lock);
    job.wake();
}

/* --- the end */

const char *job_watch(job_wake_fn wake)
{
    pmix_status_t code = PMIX_EVENT_JOB_END, rc;

    job.wake = wake;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_ended, on_watched, NULL);
    rc = link_wait();
    return rc == PMIX_SUCCESS ? NULL : link_say("the dvm has gone", rc);
}

bool job_has_ended(struct job_end *out)
{
    bool has_ended = false;
    struct ended *one;

    pthread_mutex_lock(&job.lock);
    while ((one = job.ended) != NULL) {
        job.ended = one->next;
        if (strcmp(one->nspace, job.all.nspace) == 0) {
            has_ended = true;
            *out = one->end;
        }
        free(one);
    }
    pthread_mutex_unlock(&job.lock);
    return has_ended;
}

/* --- the start */

/* One that would not be passed on may be named. */
static pmix_status_t add_own(const char *name, const char *value,
                             pmix_app_t *app)
{
    size_t size = strlen(name) + 1 + strlen(value) + 1;
    char *both = malloc(size);
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (both != NULL) {
        snprintf(both, size, "%s=%s", name, value);
        PMIX_ARGV_APPEND(rc, app->env, both);
    }
    free(both);
    return rc;
}

static pmix_status_t fill_env(const struct job_wish *from, pmix_app_t *app)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (char **at = environ; rc == PMIX_SUCCESS && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');

        if (equals != NULL && equals != *at && !ep_run_env_is_private(*at))
            PMIX_ARGV_APPEND(rc, app->env, *at);
    }
    for (uint32_t i = 0; rc == PMIX_SUCCESS && i < from->env_count; i++) {
        const char *text = from->env[i].text;

        if (from->env[i].what == JOB_ENV_SET) /* what is ours is there */
            PMIX_ARGV_APPEND(rc, app->env, text);
        else if (getenv(text) != NULL)
            rc = add_own(text, getenv(text), app);
    }
    return rc;
}

/* So many on each node; 0: not said. */
static uint32_t each(const struct ep_run_options *o,
                     const struct job_wish *from)
{
    return from->ppn == 0 && o->nodes > 0 ? 1 : from->ppn;
}

static void fill_infos(const struct job_wish *from, uint32_t ppn,
                       pmix_app_t *app)
{
    size_t count = (from->program.cwd != NULL ? 1u : 0u) + (ppn > 0 ? 1u : 0u);
    char text[32];

    if (count == 0)
        return; /* PMIx 5 looks for the end of an array whose count is 0 */
    PMIX_INFO_CREATE(app->info, count);
    if (from->program.cwd != NULL)
        PMIX_INFO_LOAD(&app->info[app->ninfo++], PMIX_WDIR, from->program.cwd,
                       PMIX_STRING);
    if (ppn == 0)
        return;
    snprintf(text, sizeof(text), "%u:%s", ppn,
             from->per == TOPO_NO_OBJECT ? "node"
                                         : topo_object_name(from->per));
    PMIX_INFO_LOAD(&app->info[app->ninfo], PMIX_PPR, text, PMIX_STRING);
    PMIX_INFO_REQUIRED(&app->info[app->ninfo++]);
}

static bool has_own_cwd(const struct job_wish *app)
{
    return app->program.cwd != NULL && app->program.cwd[0] == '/';
}

/* Where it is to run, where job_judge() has no objections; owned by the caller.
 */
static char *find_cwd(const struct job_wish *from)
{
    char *cwd = getcwd(NULL, 0);

    return cwd == NULL && has_own_cwd(from) ? strdup(from->program.cwd) : cwd;
}

static pmix_status_t fill_app(const struct ep_run_options *o,
                              const struct job_wish *from, pmix_app_t *app)
{
    uint32_t ppn = each(o, from);
    pmix_status_t rc = PMIX_SUCCESS;

    PMIX_APP_CONSTRUCT(app);
    app->cmd = strdup(from->program.argv[0]);
    app->cwd = find_cwd(from);
    app->maxprocs = (int)(o->nodes > 0 ? o->nodes * ppn : from->procs);
    for (const char *const *arg = from->program.argv;
         rc == PMIX_SUCCESS && *arg != NULL; arg++)
        PMIX_ARGV_APPEND(rc, app->argv, *arg);
    if (rc == PMIX_SUCCESS)
        rc = fill_env(from, app);
    fill_infos(from, ppn, app);
    return app->cmd == NULL || app->cwd == NULL ? PMIX_ERR_NOMEM : rc;
}

static size_t fill_job(const struct ep_run_options *o, uint32_t reader,
                       pmix_info_t *info)
{
    pmix_rank_t rank = reader == JOB_READERS_ALL ? PMIX_RANK_WILDCARD : reader;
    size_t count = 0;

    PMIX_INFO_LOAD(&info[count], PX_IOF_HOLD, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info[count++]);
    PMIX_INFO_LOAD(&info[count++], PMIX_FWD_STDOUT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[count++], PMIX_FWD_STDERR, NULL, PMIX_BOOL);
    if (o->stddiag)
        PMIX_INFO_LOAD(&info[count++], PMIX_FWD_STDDIAG, NULL, PMIX_BOOL);
    if (o->merge_stderr) /* one pipe, so that the order is kept */
        PMIX_INFO_LOAD(&info[count++], PMIX_IOF_MERGE_STDERR_STDOUT, NULL,
                       PMIX_BOOL);
    if (reader != JOB_READER_NONE)
        PMIX_INFO_LOAD(&info[count++], PMIX_FWD_STDIN, &rank, PMIX_PROC_RANK);
    if (o->hosts != NULL) {
        PMIX_INFO_LOAD(&info[count], PMIX_HOST, o->hosts, PMIX_STRING);
        PMIX_INFO_REQUIRED(&info[count++]);
    }
    if (o->hostfile != NULL) {
        PMIX_INFO_LOAD(&info[count], PMIX_HOSTFILE, o->hostfile, PMIX_STRING);
        PMIX_INFO_REQUIRED(&info[count++]);
    }
    return count;
}

/* What a refusal means. The library knows but a number: where there are several
 * programs it does not say of which. */
static const char *explain(const struct ep_run_options *o, uint32_t reader,
                           pmix_status_t rc)
{
    const bool is_one = o->apps_count == 1;
    const char *program =
        is_one ? o->apps[0].program.argv[0] : "a program of the job";
    const char *which = is_one ? "" : "; `xylem dvm -v' says which";
    const char *dir =
        is_one ? o->apps[0].program.cwd : "for one of its programs";

    if (rc == PMIX_ERR_JOB_EXE_NOT_FOUND)
        snprintf(job.why, WHY_BYTES,
                 "%.200s cannot be started: there is no such program on a "
                 "node that is to run it (its PATH is that of this run%s)",
                 program, which);
    else if (rc == PMIX_ERR_JOB_APP_NOT_EXECUTABLE)
        snprintf(job.why, WHY_BYTES,
                 "%.200s cannot be started: it is no program, or this user "
                 "may not run it%s",
                 program, which);
    else if (rc == PMIX_ERR_JOB_WDIR_NOT_FOUND)
        snprintf(job.why, WHY_BYTES,
                 "the job cannot be started: a node has no directory %.200s "
                 "that it may enter (--chdir names another one%s)",
                 dir != NULL ? dir : "as this one", which);
    else if (rc == PMIX_ERR_JOB_INSUFFICIENT_RESOURCES)
        snprintf(job.why, WHY_BYTES,
                 "the dvm has no room for the job: nodes are too few or lost, "
                 "or would have more than %d processes of such jobs (`xylem "
                 "dvm -v' says which it is)",
                 RUN_SPARE_PROCS);
    else if (rc == PMIX_ERR_NOT_FOUND)
        snprintf(job.why, WHY_BYTES,
                 "the job cannot be started: the dvm has not all of its hosts "
                 "(`xylem dvm -v' names one)");
    else if (rc == PMIX_ERR_BAD_PARAM && o->hosts == NULL &&
             o->hostfile == NULL && reader < JOB_READER_NONE)
        snprintf(job.why, WHY_BYTES,
                 "the job cannot be started: it has no rank %u to get stdin "
                 "(-i)",
                 reader);
    else if (rc == PMIX_ERR_BAD_PARAM)
        snprintf(job.why, WHY_BYTES,
                 "the job cannot be started: its hosts make no sense, "
                 "or it has no such rank for stdin (`xylem dvm -v' says why)");
    else if (rc == PMIX_ERR_JOB_FAILED_TO_LAUNCH)
        return "the dvm cannot start the job (`xylem dvm -v' says why)";
    else if (rc == PMIX_ERR_LOST_CONNECTION || rc == PMIX_ERR_UNREACH)
        return "the dvm has gone before the job ran";
    else
        return link_say("the dvm does not start the job", rc);
    return job.why;
}

const char *job_judge(const struct ep_run_options *o)
{
    char here[PATH_MAX];

    if (getcwd(here, sizeof(here)) != NULL || errno != ENOENT)
        return NULL;
    for (uint32_t i = 0; i < o->apps_count; i++) {
        if (!has_own_cwd(&o->apps[i]))
            return "the job cannot be started: the directory that this was "
                   "started in has been removed (--chdir names another one)";
    }
    return NULL;
}

const char *job_start(const struct ep_run_options *o, uint32_t reader,
                      const char **nspace)
{
    pmix_app_t *apps = calloc(o->apps_count, sizeof(*apps));
    pmix_info_t info[INFOS_MAX];
    size_t infos = fill_job(o, reader, info);
    pmix_status_t rc = apps == NULL ? PMIX_ERR_NOMEM : PMIX_SUCCESS;

    for (uint32_t i = 0; apps != NULL && i < o->apps_count; i++) {
        pmix_status_t one = fill_app(o, &o->apps[i], &apps[i]);

        rc = rc == PMIX_SUCCESS ? one : rc;
    }
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Spawn_nb(info, infos, apps, o->apps_count, on_started, NULL);
    if (rc == PMIX_SUCCESS)
        rc = link_wait();
    for (size_t i = 0; i < infos; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    for (uint32_t i = 0; apps != NULL && i < o->apps_count; i++)
        PMIX_APP_DESTRUCT(&apps[i]);
    free(apps);
    *nspace = job.all.nspace;
    return rc == PMIX_SUCCESS ? NULL : explain(o, reader, rc);
}

/* --- signals */

void job_signal(int signo)
{
    pmix_info_t *order = calloc(1, sizeof(*order));

    if (order == NULL)
        return;
    PMIX_INFO_LOAD(order, PMIX_JOB_CTRL_SIGNAL, &signo, PMIX_INT);
    pthread_mutex_lock(&job.lock);
    job.untold++;
    pthread_mutex_unlock(&job.lock);
    if (PMIx_Job_control_nb(&job.all, 1, order, 1, on_told, order) !=
        PMIX_SUCCESS)
        on_told(PMIX_ERROR, NULL, 0, order, NULL, NULL);
}

bool job_is_told(void)
{
    bool is_told;

    pthread_mutex_lock(&job.lock);
    is_told = job.untold == 0;
    pthread_mutex_unlock(&job.lock);
    return is_told;
}
