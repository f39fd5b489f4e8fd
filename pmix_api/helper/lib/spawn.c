/* Converts a tool's PMIx_Spawn into a struct job_request. */
#include "pmix_api/helper/lib/spawn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/directive.h"
#include "pmix_api/helper/lib/flow.h"
#include "pmix_api/helper/lib/output.h"
#include "pmix_api/helper/lib/wish.h"

struct spawn_call {
    struct px_lib_call base;
    struct px_lib_spawn spawn;
    struct px_lib_start start; /* owned, but borrows memory of libpmix */
    pmix_nspace_t nspace;      /* the namespace of the job that was started */
    pmix_spawn_cbfunc_t answer;
    void *arg;
};

/* --- programs */

static uint32_t count_words(char *const *words)
{
    uint32_t count = 0;

    while (words != NULL && words[count] != NULL)
        count++;
    return count;
}

/* Reads the arguments. libpmix has made the program's name the first of them.
 */
static enum px_lib_answer read_words(const pmix_app_t *from,
                                     struct job_wish *app)
{
    uint32_t words = count_words(from->argv);
    const char **argv;

    if (from->cmd == NULL && words == 0)
        return PX_LIB_NO_WORD;
    argv = calloc((size_t)words + 2, sizeof(*argv));
    app->program.argv = argv;
    if (argv == NULL)
        return PX_LIB_NO_RESOURCE;
    for (uint32_t i = 0; i < words; i++)
        argv[i] = from->argv[i];
    if (from->cmd != NULL)
        argv[0] = from->cmd;
    return PX_LIB_YES;
}

static enum px_lib_answer read_env(const pmix_app_t *from, struct job_wish *app)
{
    for (char *const *at = from->env; at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        struct job_env change = {.what = JOB_ENV_SET, .text = *at};

        if (equals == NULL || equals == *at)
            return PX_LIB_BAD_PARAM;
        if (px_start_env(app, change) != PX_LIB_YES)
            return PX_LIB_NO_RESOURCE;
    }
    return PX_LIB_YES;
}

/* Reads a program. If the tool names no directory, its library fills in the
 * tool's current directory, which need not exist on other hosts; so the
 * directory is optional. */
static enum px_lib_answer read_app(const pmix_app_t *from, struct job_wish *app)
{
    if (from->maxprocs < 0)
        return PX_LIB_BAD_PARAM;
    app->procs = (uint32_t)from->maxprocs;
    app->program.cwd = from->cwd;
    app->program.cwd_is_optional =
        from->cwd != NULL && access(from->cwd, X_OK) == 0;
    return read_words(from, app);
}

/* Applies the directives for the job, then those for the program. */
static enum px_lib_answer read_changes(struct px_lib_start *start,
                                       struct job_wish *app,
                                       const pmix_info_t info[], size_t infos,
                                       const pmix_app_t *from)
{
    enum px_lib_answer rc = px_start_apply(start, app, true, info, infos);

    if (rc == PX_LIB_YES)
        rc = read_env(from, app);
    if (rc == PX_LIB_YES)
        rc = px_start_apply(start, app, false, from->info, from->ninfo);
    return rc;
}

static enum px_lib_answer read_all(const pmix_info_t info[], size_t infos,
                                   const pmix_app_t apps[], size_t count,
                                   struct px_lib_start *start)
{
    struct job_request *out = &start->request;
    enum px_lib_answer rc = PX_LIB_YES;

    if (count == 0 || count > JOB_APPS_MAX)
        return PX_LIB_BAD_PARAM;
    out->apps = calloc(count, sizeof(*out->apps));
    if (out->apps == NULL)
        return PX_LIB_NO_RESOURCE;
    while (rc == PX_LIB_YES && out->apps_count < count) {
        struct job_wish *app = &out->apps[out->apps_count];
        const pmix_app_t *from = &apps[out->apps_count++];

        rc = read_app(from, app);
        if (rc == PX_LIB_YES)
            rc = read_changes(start, app, info, infos, from);
    }
    return rc == PX_LIB_YES ? px_output_settle(start) : rc;
}

/* --- what becomes of its output */

/* How many bytes of output to keep for clients that come late. */
static uint32_t cache_of(const struct px_lib_wish *wish)
{
    if (!wish->has_cache)
        return JOB_CACHE_UNSAID;
    return wish->cache_bytes < JOB_CACHE_UNSAID ? (uint32_t)wish->cache_bytes
                                                : JOB_CACHE_UNSAID - 1;
}

static uint32_t bounded(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Reads the directives about output that also a pull may have. Other
 * directives, unknown ones and bad values are handled later. */
static void read_wish(struct spawn_call *call, const pmix_info_t info[],
                      size_t infos)
{
    struct px_lib_wish *wish = &call->spawn.wish;
    struct job_request *request = &call->start.request;

    px_wish_read(info, infos, wish);
    wish->is_bad = false;
    wish->strange = NULL;
    request->cache_bytes = cache_of(wish);
    request->drops_oldest = wish->drops_oldest;
    request->buffer_bytes = bounded(wish->buffer_bytes);
    request->buffer_s = bounded(wish->buffer_s);
}

/* --- the answer */

static void on_turn(pmix_status_t status, void *arg)
{
    struct spawn_call *call = arg;
    const bool is_done = call->base.answer == PX_LIB_YES;

    (void)status;
    if (is_done && call->start.request.forwards != 0)
        px_flow_forward();
    call->answer(px_call_status(call->base.answer),
                 is_done ? call->nspace : NULL, call->arg);
    px_start_fini(&call->start);
    free(call);
}

static void give(struct px_lib_call *call)
{
    px_call_turn(on_turn, call);
}

void px_lib_answer_spawn(void *arg, const char *nspace)
{
    struct spawn_call *call = arg;

    PMIX_LOAD_NSPACE(call->nspace, nspace);
    px_lib_answer(call, PX_LIB_YES);
}

static void tell_spawn(void *arg)
{
    struct spawn_call *call = arg;

    px_caller()->events->on_spawn(px_caller()->arg, &call->spawn);
}

/* Handles PMIx_Spawn. A refusal, too, is given by the callback: libpmix does
 * not free all memory of a request that is refused by the returned status. */
pmix_status_t px_spawn_upcall(const pmix_proc_t *spawner,
                              const pmix_info_t info[], size_t infos,
                              const pmix_app_t apps[], size_t napps,
                              pmix_spawn_cbfunc_t answer, void *arg)
{
    struct spawn_call *call = calloc(1, sizeof(*call));
    enum px_lib_answer rc;

    (void)spawner;
    if (call == NULL)
        return PMIX_ERR_NOMEM;
    call->base.give = give;
    call->answer = answer;
    call->arg = arg;
    call->spawn.request = &call->start.request;
    call->spawn.call = call;
    rc = read_all(info, infos, apps, napps, &call->start);
    read_wish(call, info, infos);
    if (rc == PX_LIB_YES)
        px_tell(tell_spawn, call);
    else
        px_lib_answer(call, rc);
    return PMIX_SUCCESS;
}
