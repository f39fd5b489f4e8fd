/* The job of a run: what its processes are, and who reads stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/environ.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/manners.h"
#include "topo/ranges.h"

extern char **environ;

static int list_readers(struct run *r)
{
    const char *text = r->options.stdin_ranks;
    struct topo_range all = {0, r->own.desc.size - 1};
    struct topo_ranges set;
    struct topo_fault fault;
    uint32_t terms;
    int rc = 0;

    if (strcmp(text, "none") == 0)
        return 0;
    if (strcmp(text, "all") == 0)
        return job_add_reader(&r->own.desc, all) ? 1 : 0;
    terms = topo_ranges_terms(text, strlen(text));
    set.items = calloc(terms + 1, sizeof(*set.items));
    if (set.items == NULL)
        return ep_voice_fail(&r->voice, "out of memory");
    topo_ranges_init(&set, set.items, terms + 1);
    if (topo_ranges_parse(&set, text, strlen(text), &fault)) {
        ep_voice_say(&r->voice, "--stdin: at character %zu of '%s': %s",
                     fault.at_bytes + 1, text, fault.what);
        rc = 2;
    } else if (topo_ranges_nth(&set, topo_ranges_size(&set) - 1) >=
               r->own.desc.size) {
        ep_voice_say(&r->voice,
                     "--stdin names rank %u but the job has ranks 0 to %u",
                     topo_ranges_nth(&set, topo_ranges_size(&set) - 1),
                     r->own.desc.size - 1);
        rc = 2;
    }
    for (uint32_t i = 0; rc == 0 && i < set.count; i++)
        rc = job_add_reader(&r->own.desc, set.items[i]) ? 1 : 0;
    free(set.items);
    return rc;
}

/* --env without a value: that of the launcher. */
static int add_own(struct run *r, struct job_app *app, const char *name)
{
    const char *value = getenv(name);
    char entry[4096];

    if (value == NULL) {
        ep_voice_say(&r->voice,
                     "--env %s: it is not in the environment; give "
                     "--env %s=VALUE",
                     name, name);
        return 2;
    }
    if ((size_t)snprintf(entry, sizeof(entry), "%s=%s", name, value) >=
        sizeof(entry)) {
        ep_voice_say(&r->voice,
                     "--env %s: its value is longer than 4000 bytes; leave "
                     "it out, it is passed on anyway",
                     name);
        return 2;
    }
    return job_strings_add(&app->env, entry)
               ? ep_voice_fail(&r->voice, "out of memory")
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

static int describe_app(struct run *r, const struct job_wish *from,
                        struct job_app *app)
{
    int rc = 0;

    if (ep_run_plan_app(&from->program, app))
        return ep_voice_fail(&r->voice, "out of memory");
    for (uint32_t i = 0; rc == 0 && i < from->env_count; i++) {
        const struct job_env *env = &from->env[i];

        if (env->what == JOB_ENV_OWN)
            rc = add_own(r, app, env->text);
        else if (job_strings_add(&app->env, env->text))
            rc = ep_voice_fail(&r->voice, "out of memory");
    }
    return rc;
}

static int list_env(struct run *r)
{
    for (char **e = environ; *e != NULL; e++) {
        if (strchr(*e, '=') != NULL && !ep_run_env_is_private(*e) &&
            job_strings_add(&r->own.desc.env, *e))
            return ep_voice_fail(&r->voice, "out of memory");
    }
    return 0;
}

int ep_run_plan_job(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    int rc;

    r->own.desc.number = 1;
    ep_manners_read(&r->own.desc.manners);
    r->own.desc.is_raw = o->raw;
    r->own.desc.merges_stderr = o->merge_stderr;
    r->own.desc.has_stddiag = o->stddiag;
    r->own.desc.open_ms = o->unbuffered || isatty(STDOUT_FILENO) ? 250 : 0;
    r->own.desc.linger_ms = (uint32_t)(o->linger_s * 1000);
    r->own.desc.cache_bytes = o->tap != NULL && !o->is_dvm ? o->cache_bytes : 0;
    r->own.desc.cache_channels = JOB_CACHE_ALL;
    r->own.desc.slow = o->slow;
    r->own.desc.spill_bytes = o->spill_bytes;
    r->own.desc.close_ms = (uint32_t)(o->close_s * 1000);
    if (o->spill_dir != NULL &&
        job_set_string(&r->own.desc.spill_dir, o->spill_dir))
        return ep_voice_fail(&r->voice, "out of memory");
    rc = list_readers(r);
    if (rc == 0)
        rc = list_env(r);
    for (uint32_t i = 0; rc == 0 && i < o->apps_count; i++)
        rc = describe_app(r, &o->apps[i], &r->own.desc.apps[i]);
    return rc;
}
