/* The job of a run: what its processes are, and which of them read stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/environ.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/manners.h"
#include "topo/ranges.h"

extern char **environ;

static int list_readers(struct run_plan *p)
{
    const char *text = p->options->stdin_ranks;
    struct topo_range all = {0, p->job->size - 1};
    struct topo_ranges set;
    struct topo_fault fault;
    uint32_t terms;
    int rc = 0;

    if (strcmp(text, "none") == 0)
        return 0;
    if (strcmp(text, "all") == 0)
        return job_add_reader(p->job, all) ? 1 : 0;
    terms = topo_ranges_terms(text, strlen(text));
    set.items = calloc(terms + 1, sizeof(*set.items));
    if (set.items == NULL)
        return ep_voice_fail(p->voice, "out of memory");
    topo_ranges_init(&set, set.items, terms + 1);
    if (topo_ranges_parse(&set, text, strlen(text), &fault)) {
        ep_voice_say(p->voice, "--stdin: at character %zu of '%s': %s",
                     fault.at_bytes + 1, text, fault.what);
        rc = 2;
    } else if (topo_ranges_nth(&set, topo_ranges_size(&set) - 1) >=
               p->job->size) {
        ep_voice_say(p->voice,
                     "--stdin names rank %u but the job has ranks 0 to %u",
                     topo_ranges_nth(&set, topo_ranges_size(&set) - 1),
                     p->job->size - 1);
        rc = 2;
    }
    for (uint32_t i = 0; rc == 0 && i < set.count; i++)
        rc = job_add_reader(p->job, set.items[i]) ? 1 : 0;
    free(set.items);
    return rc;
}

/* Carries out --env NAME without a value: the program gets the launcher's own
 * value. */
static int add_own(struct run_plan *p, struct job_app *app, const char *name)
{
    const char *entry = ep_run_env_find(name);

    if (entry == NULL) {
        ep_voice_say(p->voice,
                     "--env %s: it is not in the environment; give "
                     "--env %s=VALUE",
                     name, name);
        return 2;
    }
    return job_strings_add(&app->env, entry)
               ? ep_voice_fail(p->voice, "out of memory")
               : 0;
}

int ep_run_plan_app(const struct job_program *program, struct job_app *app)
{
    struct job_program at = *program;
    char here[4096];

    if (at.cwd == NULL) {
        at.cwd = getcwd(here, sizeof(here));
        at.cwd_is_optional = true;
    }
    return job_app_set(app, &at);
}

static int describe_app(struct run_plan *p, const struct job_wish *from,
                        struct job_app *app)
{
    int rc = 0;

    if (ep_run_plan_app(&from->program, app))
        return ep_voice_fail(p->voice, "out of memory");
    for (uint32_t i = 0; rc == 0 && i < from->env_count; i++) {
        const struct job_env *env = &from->env[i];

        if (env->what == JOB_ENV_OWN)
            rc = add_own(p, app, env->text);
        else if (job_strings_add(&app->env, env->text))
            rc = ep_voice_fail(p->voice, "out of memory");
    }
    return rc;
}

static int list_exports(struct run_plan *p)
{
    const struct ep_run_options *o = p->options;

    for (uint32_t i = 0; i < o->exports_count; i++) {
        const struct job_env *export = &o->exports[i];
        const char *entry = export->what == JOB_ENV_OWN
                                ? ep_run_env_find(export->text)
                                : export->text;

        if (entry != NULL && job_strings_add(&p->job->env, entry))
            return ep_voice_fail(p->voice, "out of memory");
    }
    return 0;
}

static int list_env(struct run_plan *p)
{
    for (char **e = environ; *e != NULL && !p->options->exports_only; e++) {
        if (strchr(*e, '=') != NULL && !ep_run_env_is_private(*e) &&
            job_strings_add(&p->job->env, *e))
            return ep_voice_fail(p->voice, "out of memory");
    }
    return list_exports(p);
}

int ep_run_plan_job(struct run_plan *p)
{
    const struct ep_run_options *o = p->options;
    int rc;

    p->job->number = 1;
    ep_manners_read(&p->job->manners);
    p->job->is_raw = o->raw;
    p->job->merges_stderr = o->merge_stderr;
    p->job->has_stddiag = o->stddiag;
    p->job->open_ms = o->unbuffered || isatty(STDOUT_FILENO) ? 250 : 0;
    p->job->linger_ms = (uint32_t)(o->linger_s * 1000);
    p->job->cache_bytes = o->desk != NULL && !o->is_dvm ? o->cache_bytes : 0;
    p->job->cache_channels = JOB_CACHE_ALL;
    p->job->slow = o->slow;
    p->job->spill_bytes = o->spill_bytes;
    p->job->close_ms = (uint32_t)(o->close_s * 1000);
    p->job->watch.ms = (uint32_t)(o->stall_s * 1000);
    p->job->watch.all = o->stall_all;
    if (job_set_string(&p->job->spill_dir, o->spill_dir) ||
        job_filter_copy(&p->job->filter, &o->filter))
        return ep_voice_fail(p->voice, "out of memory");
    rc = list_readers(p);
    if (rc == 0)
        rc = list_env(p);
    for (uint32_t i = 0; rc == 0 && i < o->apps_count; i++)
        rc = describe_app(p, &o->apps[i], &p->job->apps[i]);
    return rc;
}
