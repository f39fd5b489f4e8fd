/* Applies the directives of PMIx_Spawn to a request. */
#include "pmix_api/helper/lib/directive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/mapping.h"
#include "pmix_api/helper/lib/output.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/flag.h"
#include "pmix_api/helper/lib/refused.h"
#include "pmix_api/helper/lib/wish.h"

/* Applies an info, a directive with a value. NOT_SUPPORTED: the value cannot be
 * served. */
typedef enum px_lib_answer (*apply_fn)(struct px_lib_start *start,
                                       struct job_wish *app,
                                       const pmix_info_t *info);

char *px_start_keep(struct px_lib_start *start, char *text)
{
    char **more =
        realloc(start->made, (start->made_count + 1) * sizeof(*start->made));

    if (text == NULL || more == NULL) {
        start->made = more != NULL ? more : start->made;
        free(text);
        return NULL;
    }
    start->made = more;
    more[start->made_count++] = text;
    return text;
}

void px_start_fini(struct px_lib_start *start)
{
    job_request_fini(&start->request);
    for (size_t i = 0; i < start->made_count; i++)
        free(start->made[i]);
    free(start->made);
}

/* --- the environment */

enum px_lib_answer px_start_env(struct job_wish *app, struct job_env change)
{
    struct job_env *more = realloc((void *)(uintptr_t)app->env,
                                   (app->env_count + 1) * sizeof(*more));

    if (more == NULL)
        return PX_LIB_NO_RESOURCE;
    app->env = more;
    more[app->env_count++] = change;
    return PX_LIB_YES;
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

static enum px_lib_answer set_env(struct px_lib_start *start,
                                  struct job_wish *app, const pmix_info_t *info)
{
    const pmix_envar_t *envar = &info->value.data.envar;
    struct job_env change = {.what = change_of(info),
                             .separator = envar->separator};
    char *text;
    size_t size;

    if (info->value.type != PMIX_ENVAR || !is_name(envar->envar) ||
        envar->value == NULL)
        return PX_LIB_BAD_PARAM;
    size = strlen(envar->envar) + strlen(envar->value) + 2;
    text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s=%s", envar->envar, envar->value);
    change.text = px_start_keep(start, text);
    return change.text != NULL ? px_start_env(app, change) : PX_LIB_NO_RESOURCE;
}

static enum px_lib_answer unset_env(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info)
{
    (void)start;
    if (info->value.type != PMIX_STRING || !is_name(info->value.data.string))
        return PX_LIB_BAD_PARAM;
    return px_start_env(app, (struct job_env){.what = JOB_ENV_UNSET,
                                              .text = info->value.data.string});
}

/* --- directories */

static enum px_lib_answer set_dir(struct px_lib_start *start,
                                  struct job_wish *app, const pmix_info_t *info)
{
    (void)start;
    if (info->value.type != PMIX_STRING || info->value.data.string == NULL)
        return PX_LIB_BAD_PARAM;
    app->program.cwd = info->value.data.string;
    app->program.cwd_is_optional = false;
    return PX_LIB_YES;
}

static enum px_lib_answer need_dir(struct px_lib_start *start,
                                   struct job_wish *app,
                                   const pmix_info_t *info)
{
    (void)start;
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    if (PMIX_INFO_TRUE(info))
        app->program.cwd_is_optional = false;
    return PX_LIB_YES;
}

/* --- how the job runs */

static enum px_lib_answer set_nohup(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info)
{
    (void)app;
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    if (PMIX_INFO_TRUE(info))
        start->request.is_kept = true;
    return PX_LIB_YES;
}

static enum px_lib_answer set_log(struct px_lib_start *start,
                                  struct job_wish *app, const pmix_info_t *info)
{
    bool *wish = PMIX_CHECK_KEY(info, PMIX_LOG_COMPLETION)
                     ? &start->request.says_end
                     : &start->request.says_stages;

    (void)app;
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    *wish = PMIX_INFO_TRUE(info);
    return PX_LIB_YES;
}

/* Notes which events of the job tools get. All of them come by default, so a
 * request for both has all of them, in whichever order. */
static enum px_lib_answer set_events(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info)
{
    (void)app;
    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    if (PMIX_CHECK_KEY(info, PMIX_NOTIFY_JOB_EVENTS))
        start->wants_events = PMIX_INFO_TRUE(info);
    else
        start->wants_end = PMIX_INFO_TRUE(info);
    start->request.notes_end = start->wants_end && !start->wants_events;
    return PX_LIB_YES;
}

/* Accepts a directive that asks for something that happens in any case. */
static enum px_lib_answer accept(struct px_lib_start *start,
                                 struct job_wish *app, const pmix_info_t *info)
{
    (void)start;
    (void)app;
    return px_value_is_flag(info) ? PX_LIB_YES : PX_LIB_BAD_PARAM;
}

/* Checks a directive that is applied later, when output of the job is delivered
 * as for a pull. */
static enum px_lib_answer check_wish(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info)
{
    struct px_lib_wish wish = {.is_bad = false};

    (void)start;
    (void)app;
    px_wish_read(info, 1, &wish);
    return wish.is_bad ? PX_LIB_BAD_PARAM : PX_LIB_YES;
}

static enum px_lib_answer forward(struct px_lib_start *start,
                                  const pmix_info_t *info,
                                  pmix_iof_channel_t channel)
{
    uint8_t bits = (uint8_t)channel;

    if (!px_value_is_flag(info))
        return PX_LIB_BAD_PARAM;
    start->request.forwards &= (uint8_t)~bits;
    if (PMIX_INFO_TRUE(info))
        start->request.forwards |= bits;
    return PX_LIB_YES;
}

/* Sets which ranks read stdin. The value is a rank, the value for all ranks,
 * or, as in OpenPMIx, a bool that stands for all ranks. */
static enum px_lib_answer forward_in(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info)
{
    uint32_t rank = PMIX_RANK_WILDCARD;

    (void)app;
    if (info->value.type == PMIX_PROC_RANK)
        rank = info->value.data.rank;
    else if (info->value.type == PMIX_UINT32)
        rank = info->value.data.uint32;
    else if (info->value.type != PMIX_BOOL)
        return PX_LIB_BAD_PARAM;
    if (rank > PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD)
        return PX_LIB_NOT_SUPPORTED;
    start->request.reader = rank == PMIX_RANK_WILDCARD ? JOB_READERS_ALL : rank;
    start->request.has_stdin =
        info->value.type != PMIX_BOOL || PMIX_INFO_TRUE(info);
    return PX_LIB_YES;
}

static enum px_lib_answer forward_out(struct px_lib_start *start,
                                      struct job_wish *app,
                                      const pmix_info_t *info)
{
    (void)app;
    return forward(start, info, PMIX_FWD_STDOUT_CHANNEL);
}

static enum px_lib_answer forward_err(struct px_lib_start *start,
                                      struct job_wish *app,
                                      const pmix_info_t *info)
{
    (void)app;
    return forward(start, info, PMIX_FWD_STDERR_CHANNEL);
}

static enum px_lib_answer forward_diag(struct px_lib_start *start,
                                       struct job_wish *app,
                                       const pmix_info_t *info)
{
    (void)app;
    return forward(start, info, PMIX_FWD_STDDIAG_CHANNEL);
}

static const struct {
    const char *key;
    apply_fn apply;
    bool is_of_job; /* the directive is for a job, and refused for a single
                       program */
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
    {PMIX_BINDTO, px_mapping_bindto, false},
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
    {PMIX_NOTIFY_JOB_EVENTS, set_events, false},
    {PMIX_NOTIFY_COMPLETION, set_events, false},
    {PMIX_LOG_JOB_EVENTS, set_log, false},
    {PMIX_LOG_COMPLETION, set_log, false},
    /* The tool's library has applied this directive already. */
    {PMIX_SETUP_APP_ENVARS, accept, false},
};

enum { DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

const char *px_start_key(size_t index)
{
    return index < DIRECTIVES ? directives[index].key
                              : px_output_key(index - DIRECTIVES);
}

/* Finds the function for a directive; NULL: the directive is unknown. */
static apply_fn find_directive(const pmix_info_t *info, bool *is_of_job)
{
    for (size_t i = 0; i < DIRECTIVES; i++) {
        if (!PMIX_CHECK_KEY(info, directives[i].key))
            continue;
        *is_of_job = directives[i].is_of_job;
        return directives[i].apply;
    }
    *is_of_job = px_output_knows(info);
    return *is_of_job ? px_output_apply : NULL;
}

/* Applies one directive. Refuses a known directive that cannot be served, and
 * an unknown directive that is required. */
static enum px_lib_answer apply(struct px_lib_start *start,
                                struct job_wish *app, bool is_of_job,
                                const pmix_info_t *info)
{
    bool needs_job;
    const apply_fn fn = find_directive(info, &needs_job);

    if (fn == NULL)
        return PMIX_INFO_IS_REQUIRED(info) || px_refused_of_spawn(info)
                   ? PX_LIB_NOT_SUPPORTED
                   : PX_LIB_YES;
    return is_of_job || !needs_job ? fn(start, app, info)
                                   : PX_LIB_NOT_SUPPORTED;
}

static void note(const pmix_info_t *info, bool is_of_job,
                 enum px_lib_answer why)
{
    px_call_note("PMIx_Spawn was refused: %s %s%s", info->key,
                 why == PX_LIB_NOT_SUPPORTED ? "is not supported"
                                             : "has a wrong value",
                 is_of_job ? "" : " for an app");
}

enum px_lib_answer px_start_apply(struct px_lib_start *start,
                                  struct job_wish *app, bool is_of_job,
                                  const pmix_info_t info[], size_t infos)
{
    for (size_t i = 0; i < infos; i++) {
        enum px_lib_answer rc = apply(start, app, is_of_job, &info[i]);

        if (rc != PX_LIB_YES) {
            note(&info[i], is_of_job, rc);
            return rc;
        }
    }
    return PX_LIB_YES;
}
