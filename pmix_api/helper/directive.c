/* The directives of PMIx_Spawn. */
#include "pmix_api/helper/directive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/mapping.h"
#include "pmix_api/helper/output.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/value.h"
#include "pmix_api/helper/wish.h"

/* Does what an info asks for. NOT_SUPPORTED: this value cannot be served. */
typedef pmix_status_t (*apply_fn)(struct px_plan *plan, struct job_wish *app,
                                  const pmix_info_t *info);

char *px_plan_keep(struct px_plan *plan, char *text)
{
    char **more =
        realloc(plan->made, (plan->made_count + 1) * sizeof(*plan->made));

    if (text == NULL || more == NULL) {
        plan->made = more != NULL ? more : plan->made;
        free(text);
        return NULL;
    }
    plan->made = more;
    more[plan->made_count++] = text;
    return text;
}

void px_plan_fini(struct px_plan *plan)
{
    px_spawn_fini(&plan->spawn);
    for (size_t i = 0; i < plan->made_count; i++)
        free(plan->made[i]);
    free(plan->made);
}

/* --- the environment */

pmix_status_t px_directive_env(struct job_wish *app, struct job_env change)
{
    struct job_env *more = realloc((void *)(uintptr_t)app->env,
                                   (app->env_count + 1) * sizeof(*more));

    if (more == NULL)
        return PMIX_ERR_NOMEM;
    app->env = more;
    more[app->env_count++] = change;
    return PMIX_SUCCESS;
}

static enum job_env_what change_of(const pmix_info_t *info)
{
    if (PMIX_CHECK_KEY(info, PMIX_SET_ENVAR))
        return JOB_ENV_SET;
    if (PMIX_CHECK_KEY(info, PMIX_ADD_ENVAR))
        return JOB_ENV_ADD;
    return PMIX_CHECK_KEY(info, PMIX_PREPEND_ENVAR) ? JOB_ENV_PREPEND
                                                    : JOB_ENV_APPEND;
}

static bool is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strchr(name, '=') == NULL;
}

static pmix_status_t set_env(struct px_plan *plan, struct job_wish *app,
                             const pmix_info_t *info)
{
    const pmix_envar_t *envar = &info->value.data.envar;
    struct job_env change = {.what = change_of(info),
                             .separator = envar->separator};
    char *text;
    size_t size;

    if (info->value.type != PMIX_ENVAR || !is_name(envar->envar) ||
        envar->value == NULL)
        return PMIX_ERR_BAD_PARAM;
    size = strlen(envar->envar) + strlen(envar->value) + 2;
    text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s=%s", envar->envar, envar->value);
    change.text = px_plan_keep(plan, text);
    return change.text != NULL ? px_directive_env(app, change) : PMIX_ERR_NOMEM;
}

static pmix_status_t unset_env(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info)
{
    (void)plan;
    if (info->value.type != PMIX_STRING || !is_name(info->value.data.string))
        return PMIX_ERR_BAD_PARAM;
    return px_directive_env(app,
                            (struct job_env){.what = JOB_ENV_UNSET,
                                             .text = info->value.data.string});
}

/* --- where */

static pmix_status_t set_dir(struct px_plan *plan, struct job_wish *app,
                             const pmix_info_t *info)
{
    (void)plan;
    if (info->value.type != PMIX_STRING || info->value.data.string == NULL)
        return PMIX_ERR_BAD_PARAM;
    app->program.cwd = info->value.data.string;
    app->program.cwd_is_optional = false;
    return PMIX_SUCCESS;
}

static pmix_status_t need_dir(struct px_plan *plan, struct job_wish *app,
                              const pmix_info_t *info)
{
    (void)plan;
    if (!px_value_is_flag(info))
        return PMIX_ERR_BAD_PARAM;
    if (PMIX_INFO_TRUE(info))
        app->program.cwd_is_optional = false;
    return PMIX_SUCCESS;
}

/* --- */

static pmix_status_t set_nohup(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info)
{
    (void)app;
    if (!px_value_is_flag(info))
        return PMIX_ERR_BAD_PARAM;
    if (PMIX_INFO_TRUE(info))
        plan->spawn.flags |= PX_SPAWN_NOHUP;
    return PMIX_SUCCESS;
}

static pmix_status_t set_log(struct px_plan *plan, struct job_wish *app,
                             const pmix_info_t *info)
{
    const uint8_t flag = PMIX_CHECK_KEY(info, PMIX_LOG_COMPLETION)
                             ? PX_SPAWN_LOG_END
                             : PX_SPAWN_LOG_EVENTS;

    (void)app;
    if (!px_value_is_flag(info))
        return PMIX_ERR_BAD_PARAM;
    plan->spawn.flags &= (uint8_t)~flag;
    if (PMIX_INFO_TRUE(info))
        plan->spawn.flags |= flag;
    return PMIX_SUCCESS;
}

/* What is so in any case. */
static pmix_status_t accept(struct px_plan *plan, struct job_wish *app,
                            const pmix_info_t *info)
{
    (void)plan;
    (void)app;
    return px_value_is_flag(info) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* What the pull is told that brings the output. */
static pmix_status_t check_wish(struct px_plan *plan, struct job_wish *app,
                                const pmix_info_t *info)
{
    struct px_wish wish = {.copies = false};

    (void)plan;
    (void)app;
    return px_wish_read(info, 1, &wish);
}

static pmix_status_t forward(struct px_plan *plan, const pmix_info_t *info,
                             pmix_iof_channel_t channel)
{
    uint8_t bits = (uint8_t)channel;

    if (!px_value_is_flag(info))
        return PMIX_ERR_BAD_PARAM;
    plan->spawn.forwards &= (uint8_t)~bits;
    if (PMIX_INFO_TRUE(info))
        plan->spawn.forwards |= bits;
    return PMIX_SUCCESS;
}

/* A rank, or all; a bool as OpenPMIx has it, for all. */
static pmix_status_t forward_in(struct px_plan *plan, struct job_wish *app,
                                const pmix_info_t *info)
{
    uint32_t rank = PMIX_RANK_WILDCARD;

    (void)app;
    if (info->value.type == PMIX_PROC_RANK)
        rank = info->value.data.rank;
    else if (info->value.type == PMIX_UINT32)
        rank = info->value.data.uint32;
    else if (info->value.type != PMIX_BOOL)
        return PMIX_ERR_BAD_PARAM;
    if (rank > PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD)
        return PMIX_ERR_NOT_SUPPORTED;
    plan->spawn.reader = rank == PMIX_RANK_WILDCARD ? JOB_READERS_ALL : rank;
    plan->spawn.forwards &= (uint8_t)~PX_FORWARD_STDIN;
    if (info->value.type != PMIX_BOOL || PMIX_INFO_TRUE(info))
        plan->spawn.forwards |= PX_FORWARD_STDIN;
    return PMIX_SUCCESS;
}

static pmix_status_t forward_out(struct px_plan *plan, struct job_wish *app,
                                 const pmix_info_t *info)
{
    (void)app;
    return forward(plan, info, PMIX_FWD_STDOUT_CHANNEL);
}

static pmix_status_t forward_err(struct px_plan *plan, struct job_wish *app,
                                 const pmix_info_t *info)
{
    (void)app;
    return forward(plan, info, PMIX_FWD_STDERR_CHANNEL);
}

static pmix_status_t forward_diag(struct px_plan *plan, struct job_wish *app,
                                  const pmix_info_t *info)
{
    (void)app;
    return forward(plan, info, PMIX_FWD_STDDIAG_CHANNEL);
}

static const struct {
    const char *key;
    apply_fn apply;
    bool is_of_job; /* among those of an app it is not supported */
} directives[] = {
    {PMIX_SET_ENVAR, set_env, false},
    {PMIX_ADD_ENVAR, set_env, false},
    {PMIX_UNSET_ENVAR, unset_env, false},
    {PMIX_PREPEND_ENVAR, set_env, false},
    {PMIX_APPEND_ENVAR, set_env, false},
    {PMIX_WDIR, set_dir, false},
    {PMIX_WDIR_USER_SPECIFIED, need_dir, false},
    {PMIX_PPR, px_mapping_ppr, false},
    {PMIX_MAPBY, px_mapping_mapby, false},
    {PMIX_RANKBY, px_mapping_rankby, false},
    {PMIX_HOST, px_mapping_hosts, false},
    {PMIX_HOSTFILE, px_mapping_hosts, false},
    {PMIX_ADD_HOST, px_mapping_hosts, false},
    {PMIX_ADD_HOSTFILE, px_mapping_hosts, false},
    {PMIX_FWD_STDIN, forward_in, true},
    {PMIX_FWD_STDOUT, forward_out, true},
    {PMIX_FWD_STDERR, forward_err, true},
    {PMIX_FWD_STDDIAG, forward_diag, true},
    {PMIX_IOF_CACHE_SIZE, check_wish, true},
    {PMIX_IOF_DROP_OLDEST, check_wish, true},
    {PMIX_IOF_DROP_NEWEST, check_wish, true},
    {PMIX_IOF_BUFFERING_SIZE, check_wish, true},
    {PMIX_IOF_BUFFERING_TIME, check_wish, true},
    {PMIX_NOHUP, set_nohup, false},
    {PMIX_NOTIFY_JOB_EVENTS, accept, false},
    {PMIX_NOTIFY_COMPLETION, accept, false},
    {PMIX_LOG_JOB_EVENTS, set_log, false},
    {PMIX_LOG_COMPLETION, set_log, false},
    {PMIX_SETUP_APP_ENVARS, accept, false}, /* the tool's library has done it */
};

enum { DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

const char *px_directive_key(size_t index)
{
    return index < DIRECTIVES ? directives[index].key
                              : px_output_key(index - DIRECTIVES);
}

static pmix_status_t apply(struct px_plan *plan, struct job_wish *app,
                           bool is_of_job, const pmix_info_t *info)
{
    for (size_t i = 0; i < DIRECTIVES; i++) {
        if (!PMIX_CHECK_KEY(info, directives[i].key))
            continue;
        return is_of_job || !directives[i].is_of_job
                   ? directives[i].apply(plan, app, info)
                   : PMIX_ERR_NOT_SUPPORTED;
    }
    return is_of_job && px_output_knows(info) ? px_output_apply(plan, info)
                                              : PMIX_ERR_NOT_SUPPORTED;
}

/* Who asks for an allocation does not want the job without it. */
static bool is_allocation(const pmix_info_t *info)
{
    static const char prefix[] = "pmix.alloc.";

    return strncmp(info->key, prefix, sizeof(prefix) - 1) == 0;
}

static void note(const pmix_info_t *info, bool is_of_job, pmix_status_t why)
{
    px_talk_note("PMIx_Spawn is refused: %s %s%s", info->key,
                 why == PMIX_ERR_NOT_SUPPORTED ? "is not supported"
                                               : "makes no sense",
                 is_of_job ? "" : " for an app");
}

pmix_status_t px_directives(struct px_plan *plan, struct job_wish *app,
                            bool is_of_job, const pmix_info_t info[],
                            size_t infos)
{
    for (size_t i = 0; i < infos; i++) {
        pmix_status_t rc = apply(plan, app, is_of_job, &info[i]);

        if (rc == PMIX_ERR_NOT_SUPPORTED && !PMIX_INFO_IS_REQUIRED(&info[i]) &&
            !is_allocation(&info[i]))
            continue;
        if (rc != PMIX_SUCCESS) {
            note(&info[i], is_of_job, rc);
            return rc;
        }
    }
    return PMIX_SUCCESS;
}
