/* The request for a job in a dvm. */
#include "commands/submit/request.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/advice.h"
#include "endpoints/run/environ.h"
#include "endpoints/run/nodes.h"
#include "job/door.h"
#include "overlay/base/err.h"
#include "text/style.h"

extern char **environ;

enum { WHY_BYTES = 512 };

/* Memory for texts of the request. */
static struct {
    char dir[PATH_MAX]; /* the working directory; empty: it was removed */
    char hostfile[2 * PATH_MAX];
    char why[WHY_BYTES];
} request;

/* --- hosts and directories */

static bool has_own_dir(const struct job_wish *app)
{
    return app->program.cwd != NULL && app->program.cwd[0] == '/';
}

const char *request_judge(const struct ep_run_options *o)
{
    if (getcwd(request.dir, sizeof(request.dir)) != NULL)
        return NULL;
    request.dir[0] = '\0';
    for (uint32_t i = 0; i < o->apps_count; i++) {
        if (has_own_dir(&o->apps[i]))
            continue;
        if (errno == ENOENT)
            return "the job cannot be started: the current directory has been "
                   "removed (--chdir names another one)";
        snprintf(request.why, WHY_BYTES,
                 "the job cannot be started: the current directory cannot be "
                 "found: %s (--chdir names another one)",
                 strerror(errno));
        return request.why;
    }
    return NULL;
}

/* Sets the directory of a program. When the user has not named it, it need not
 * exist on other hosts. */
static void set_dir(struct job_program *program)
{
    if (program->cwd != NULL)
        return;
    program->cwd = request.dir;
    program->cwd_is_optional = access(request.dir, X_OK) == 0;
}

/* Makes the path of a file absolute, because the session reads the file. */
static const char *whole_path(const char *path)
{
    if (path == NULL || path[0] == '/' || request.dir[0] == '\0')
        return path;
    snprintf(request.hostfile, sizeof(request.hostfile), "%s/%s", request.dir,
             path);
    return request.hostfile;
}

/* --- its environment */

static struct job_env *list_own(struct job_env *to)
{
    for (char **at = environ; *at != NULL; at++) {
        const char *equals = strchr(*at, '=');

        if (equals != NULL && equals != *at && !ep_run_env_is_private(*at))
            *to++ = (struct job_env){.what = JOB_ENV_SET, .text = *at};
    }
    return to;
}

/* Lists changes that the user asks for, which may name any variable of our
 * environment. */
static struct job_env *list_changes(const struct job_env *env, uint32_t count,
                                    struct job_env *to)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *text = env[i].what == JOB_ENV_OWN
                               ? ep_run_env_find(env[i].text)
                               : env[i].text;

        if (text != NULL)
            *to++ = (struct job_env){.what = JOB_ENV_SET, .text = text};
    }
    return to;
}

/* Lists what replaces the environment of the dvm, or is added to it: settings
 * of our own environment that are passed on, and what the user asks for. */
static struct job_env *list_env(const struct ep_run_options *o,
                                const struct job_wish *from, uint32_t *count)
{
    size_t most = 1 + o->exports_count + from->env_count;
    struct job_env *env, *to;

    for (char **at = environ; *at != NULL; at++)
        most++;
    *count = 0;
    env = calloc(most, sizeof(*env));
    if (env == NULL)
        return NULL;
    to = env;
    if (o->exports_only)
        *to++ = (struct job_env){.what = JOB_ENV_CLEAR, .text = ""};
    else
        to = list_own(to);
    to = list_changes(o->exports, o->exports_count, to);
    to = list_changes(from->env, from->env_count, to);
    *count = (uint32_t)(to - env);
    return env;
}

/* --- its programs */

static const char *const *copy_words(const char *const *words)
{
    size_t count = 0;
    const char **copy;

    while (words[count] != NULL)
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    if (copy != NULL)
        memcpy(copy, words, count * sizeof(*copy));
    return copy;
}

/* Sets the number of processes when -N is given without -n: one on each of the
 * N nodes, or --ppn. */
static void count_procs(const struct ep_run_options *o, struct job_wish *app)
{
    uint64_t procs;

    if (o->nodes == 0)
        return;
    if (app->ppn == 0)
        app->ppn = 1;
    procs = (uint64_t)o->nodes * app->ppn;
    app->procs = procs < UINT32_MAX ? (uint32_t)procs : UINT32_MAX;
}

/* Makes the request for one program. False: memory is out. */
static bool make_app(const struct ep_run_options *o,
                     const struct job_wish *from, struct job_wish *app)
{
    *app = *from;
    app->program.argv = copy_words(from->program.argv);
    app->env = list_env(o, from, &app->env_count);
    set_dir(&app->program);
    count_procs(o, app);
    app->hosts = o->hosts;
    app->hostfile = whole_path(o->hostfile);
    return app->program.argv != NULL && app->env != NULL;
}

const char *request_make(const struct ep_run_options *o, uint32_t reader,
                         struct job_request *out)
{
    const uint8_t outputs = 1 << TEXT_CHANNEL_STDOUT |
                            1 << TEXT_CHANNEL_STDERR |
                            (o->stddiag ? 1 << TEXT_CHANNEL_STDDIAG : 0);
    bool is_made;

    *out = (struct job_request){
        .apps = calloc(o->apps_count, sizeof(*out->apps)),
        .has_stddiag = o->stddiag,
        .merges_stderr = o->merge_stderr, /* with one pipe for both, their order
                                             is kept */
        .has_stdin = reader != REQUEST_READER_NONE,
        .keeps_last = o->filter.keeps_last,
        .stall_ms = (uint32_t)(o->stall_s * 1000),
        .stall_all = o->stall_all,
        .waits = true,
        .reader = reader == REQUEST_READER_NONE ? 0 : reader,
        .comes = outputs,
        .forwards = outputs,
        .cache_bytes = JOB_CACHE_UNSAID,
    };
    is_made = out->apps != NULL;
    while (is_made && out->apps_count < o->apps_count) {
        const struct job_wish *from = &o->apps[out->apps_count];

        is_made = make_app(o, from, &out->apps[out->apps_count++]);
    }
    if (is_made)
        return NULL;
    job_request_fini(out);
    return ov_strerror(OV_ENOMEM);
}

/* --- why the job does not start */

/* Explains a reason about a program, which can be named only when the job has
 * just one. */
static void explain_program(const struct ep_run_options *o,
                            enum job_door_reason reason)
{
    const bool is_one = o->apps_count == 1;
    const char *program =
        is_one ? o->apps[0].program.argv[0] : "a program of the job";
    const char *which = is_one ? "" : "; `xylem dvm -v' says which";
    const char *dir =
        is_one ? o->apps[0].program.cwd : "for one of its programs";

    if (reason == JOB_DOOR_NO_PROGRAM)
        snprintf(request.why, WHY_BYTES,
                 "%.200s cannot be started: there is no such program on a "
                 "node that is to run it (its PATH is that of this run%s)%s",
                 program, which, is_one ? ep_advice_word(program) : "");
    else if (reason == JOB_DOOR_NO_EXEC)
        snprintf(request.why, WHY_BYTES,
                 "%.200s cannot be started: it is not a program, or this user "
                 "may not run it%s",
                 program, which);
    else
        snprintf(request.why, WHY_BYTES,
                 "the job cannot be started: a node has no directory %.200s "
                 "that it may enter (--chdir names another one%s)",
                 dir != NULL ? dir : "like the current one", which);
}

const char *request_explain(const struct ep_run_options *o, uint32_t reader,
                            const struct job_door *unstarted)
{
    const enum job_door_reason reason = (enum job_door_reason)unstarted->reason;

    switch (reason) {
    case JOB_DOOR_NO_ROOM:
        snprintf(request.why, WHY_BYTES,
                 "the dvm has no room for the job: it has too few nodes, some "
                 "are lost, or one would have more than %d processes (`xylem "
                 "dvm -v' says which it is)",
                 RUN_SPARE_PROCS);
        break;
    case JOB_DOOR_NO_HOST:
    case JOB_DOOR_NO_GROWTH:
        return "the job cannot be started: some of its hosts are not in the "
               "dvm (`xylem dvm -v' names one)";
    case JOB_DOOR_BAD_HOSTS:
        return "the job cannot be started: its hosts are not those of the dvm, "
               "or written wrongly (`xylem dvm -v' says why)";
    case JOB_DOOR_NO_READER:
        snprintf(request.why, WHY_BYTES,
                 "the job cannot be started: --stdin names rank %u, which it "
                 "does not have",
                 reader);
        break;
    case JOB_DOOR_NO_DIR:
    case JOB_DOOR_NO_PROGRAM:
    case JOB_DOOR_NO_EXEC:
        explain_program(o, reason);
        break;
    case JOB_DOOR_BLIND:
    case JOB_DOOR_FAILED:
    case JOB_DOOR_REASONS:
        return "the dvm cannot start the job (`xylem dvm -v' says why)";
    }
    return request.why;
}
