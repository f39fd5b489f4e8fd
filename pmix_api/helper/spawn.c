/* PMIx_Spawn: what a tool wants becomes words for the launcher. */
#include "pmix_api/helper/spawn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix_api/helper/directive.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/output.h"
#include "pmix_api/helper/request.h"
#include "pmix_api/helper/talk.h"

/* --- programs */

static uint32_t count_words(char *const *words)
{
    uint32_t count = 0;

    while (words != NULL && words[count] != NULL)
        count++;
    return count;
}

/* The library has made the first word the name of the program. */
static pmix_status_t read_words(const pmix_app_t *from, struct job_wish *app)
{
    uint32_t words = count_words(from->argv);
    const char **argv;

    if (from->cmd == NULL && words == 0)
        return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
    argv = calloc((size_t)words + 2, sizeof(*argv));
    app->program.argv = argv;
    if (argv == NULL)
        return PMIX_ERR_NOMEM;
    for (uint32_t i = 0; i < words; i++)
        argv[i] = from->argv[i];
    if (from->cmd != NULL)
        argv[0] = from->cmd;
    return PMIX_SUCCESS;
}

static pmix_status_t read_env(const pmix_app_t *from, struct job_wish *app)
{
    for (char *const *at = from->env; at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        struct job_env change = {.what = JOB_ENV_SET, .text = *at};

        if (equals == NULL || equals == *at)
            return PMIX_ERR_BAD_PARAM;
        if (px_directive_env(app, change) != PMIX_SUCCESS)
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

/* Where the tool names none its library says where the tool is: that need not
 * exist on other hosts. */
static pmix_status_t read_app(const pmix_app_t *from, struct job_wish *app)
{
    if (from->maxprocs < 0)
        return PMIX_ERR_BAD_PARAM;
    app->procs = (uint32_t)from->maxprocs;
    app->program.cwd = from->cwd;
    app->program.cwd_is_optional =
        from->cwd != NULL && access(from->cwd, X_OK) == 0;
    return read_words(from, app);
}

/* What is said of the job, then of the program itself. */
static pmix_status_t read_changes(struct px_plan *plan, struct job_wish *app,
                                  const pmix_info_t info[], size_t infos,
                                  const pmix_app_t *from)
{
    pmix_status_t rc = px_directives(plan, app, true, info, infos);

    if (rc == PMIX_SUCCESS)
        rc = read_env(from, app);
    if (rc == PMIX_SUCCESS)
        rc = px_directives(plan, app, false, from->info, from->ninfo);
    return rc;
}

static pmix_status_t read_all(const pmix_info_t info[], size_t infos,
                              const pmix_app_t apps[], size_t count,
                              struct px_plan *plan)
{
    struct px_spawn *out = &plan->spawn;
    pmix_status_t rc = PMIX_SUCCESS;

    if (count == 0 || count > PX_SPAWN_APPS_MAX)
        return PMIX_ERR_BAD_PARAM;
    out->apps = calloc(count, sizeof(*out->apps));
    if (out->apps == NULL)
        return PMIX_ERR_NOMEM;
    while (rc == PMIX_SUCCESS && out->count < count) {
        struct job_wish *app = &out->apps[out->count];
        const pmix_app_t *from = &apps[out->count++];

        rc = read_app(from, app);
        if (rc == PMIX_SUCCESS)
            rc = read_changes(plan, app, info, infos, from);
    }
    return rc == PMIX_SUCCESS ? px_output_settle(plan) : rc;
}

/* --- who has started what */

/* It goes with the tool, whatever has become of the job. */
struct started {
    struct started *next;
    pmix_proc_t by;
    uint32_t token;
};

static struct {
    pthread_mutex_t lock;
    struct started *list; /* owned */
} started = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void remember(const pmix_proc_t *tool, uint32_t token)
{
    struct started *one = malloc(sizeof(*one));

    if (one == NULL)
        return; /* it stays */
    pthread_mutex_lock(&started.lock);
    *one = (struct started){started.list, *tool, token};
    started.list = one;
    pthread_mutex_unlock(&started.lock);
}

void px_spawn_over(uint32_t token)
{
    struct started **at = &started.list, *one;

    pthread_mutex_lock(&started.lock);
    while (*at != NULL && (*at)->token != token)
        at = &(*at)->next;
    one = *at;
    if (one != NULL)
        *at = one->next;
    pthread_mutex_unlock(&started.lock);
    free(one);
}

void px_spawn_forget(const pmix_proc_t *tool)
{
    struct started **at = &started.list;

    px_job_leave(tool);
    pthread_mutex_lock(&started.lock);
    while (*at != NULL) {
        struct started *one = *at;

        if (!PMIX_CHECK_PROCID(&one->by, tool)) {
            at = &one->next;
            continue;
        }
        px_talk(&(struct px_msg){.kind = PX_HANGUP, .token = one->token});
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(&started.lock);
}

/* --- to the launcher */

static void send_pieces(const uint8_t *mem, size_t len, uint32_t token)
{
    for (size_t at = 0; at < len; at += PX_SPAWN_PIECE) {
        size_t left = len - at;
        struct px_msg msg = {
            .kind = PX_SPAWN,
            .spawn = {.token = token,
                      .is_more = left > PX_SPAWN_PIECE,
                      .len_bytes =
                          (uint32_t)(left < PX_SPAWN_PIECE ? left
                                                           : PX_SPAWN_PIECE),
                      .mem = mem + at},
        };

        px_talk(&msg);
    }
}

/* That are kept of it for tools that come late. */
static uint32_t cache_of(const pmix_info_t info[], size_t infos)
{
    struct px_wish wish = {.has_cache = false};

    (void)px_wish_read(info, infos, &wish); /* see px_directives() */
    if (!wish.has_cache)
        return JOB_CACHE_UNSAID;
    return wish.cache_bytes < JOB_CACHE_UNSAID ? (uint32_t)wish.cache_bytes
                                               : JOB_CACHE_UNSAID - 1;
}

/* Its output comes to the tool by itself. */
static pmix_status_t begin_forward(const pmix_proc_t *spawner,
                                   const pmix_info_t info[], size_t infos,
                                   struct px_spawn *spawn)
{
    if ((spawn->forwards & ~PX_FORWARD_STDIN) == 0)
        return PMIX_SUCCESS;
    spawn->pull = px_forward_begin(spawner, info, infos, spawn->output);
    return spawn->pull != 0 ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Refused later, too: of what is refused by a status the library forgets less
 * than it should. */
pmix_status_t px_spawn(const pmix_proc_t *spawner, const pmix_info_t info[],
                       size_t infos, const pmix_app_t apps[], size_t napps,
                       pmix_spawn_cbfunc_t answer, void *arg)
{
    struct px_asker who = {
        .on_spawn = answer, .arg = arg, .status = PMIX_SUCCESS};
    struct px_plan what = {.made = NULL};
    pmix_status_t rc = read_all(info, infos, apps, napps, &what);
    uint8_t *mem = NULL;
    uint32_t token;
    size_t len;

    what.spawn.cache_bytes = cache_of(info, infos);
    if (rc == PMIX_SUCCESS)
        rc = begin_forward(spawner, info, infos, &what.spawn);
    who.pull = what.spawn.pull;
    if (rc == PMIX_SUCCESS) {
        len = px_spawn_encode(&what.spawn, &mem);
        rc = mem == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    if (rc != PMIX_SUCCESS) {
        px_request_refuse(&who, rc);
    } else {
        token = px_request_open(&who, 0);
        if (token != 0 && (what.spawn.flags & PX_SPAWN_NOHUP) == 0)
            remember(spawner, token);
        if (token != 0)
            send_pieces(mem, len, token);
    }
    free(mem);
    px_plan_fini(&what);
    return PMIX_SUCCESS;
}
