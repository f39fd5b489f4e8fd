/* The job of a run: what its processes are, and who reads stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "topo/ranges.h"

extern char **environ;

static int list_readers(struct run *r)
{
    const char *text = r->options.stdin_ranks;
    struct topo_range all = {0, r->job.size - 1};
    struct topo_ranges set;
    struct topo_fault fault;
    uint32_t terms;
    int rc = 0;

    if (strcmp(text, "none") == 0)
        return 0;
    if (strcmp(text, "all") == 0)
        return ep_job_add_reader(&r->job, all) ? 1 : 0;
    terms = topo_ranges_terms(text, strlen(text));
    set.items = calloc(terms + 1, sizeof(*set.items));
    if (set.items == NULL)
        return ep_run_fail(r, "out of memory");
    topo_ranges_init(&set, set.items, terms + 1);
    if (topo_ranges_parse(&set, text, strlen(text), &fault)) {
        ep_run_say(r, "--stdin: at character %zu of '%s': %s",
                   fault.at_bytes + 1, text, fault.what);
        rc = 2;
    } else if (topo_ranges_nth(&set, topo_ranges_size(&set) - 1) >=
               r->job.size) {
        ep_run_say(r, "--stdin names rank %u but the job has ranks 0 to %u",
                   topo_ranges_nth(&set, topo_ranges_size(&set) - 1),
                   r->job.size - 1);
        rc = 2;
    }
    for (uint32_t i = 0; rc == 0 && i < set.count; i++)
        rc = ep_job_add_reader(&r->job, set.items[i]) ? 1 : 0;
    free(set.items);
    return rc;
}

static bool is_named(const char *entry, const char *name, size_t len)
{
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Of the launcher's shell or xylem's own, or replaced by --env. */
static bool is_private(const struct run *r, const char *entry)
{
    static const char *const names[] = {"_", "OLDPWD", "PWD", "SHLVL"};

    if (strncmp(entry, "XYLEM_", 6) == 0 ||
        strncmp(entry, "BASH_FUNC_", 10) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_named(entry, names[i], strlen(names[i])))
            return true;
    }
    for (uint32_t i = 0; i < r->options.env_count; i++) {
        if (is_named(entry, r->options.env[i], strcspn(r->options.env[i], "=")))
            return true;
    }
    return false;
}

static int list_env(struct run *r)
{
    char entry[4096];
    int rc = 0;

    for (char **e = environ; rc == 0 && *e != NULL; e++) {
        if (strchr(*e, '=') != NULL && !is_private(r, *e))
            rc = ep_job_add_env(&r->job, *e);
    }
    for (uint32_t i = 0; rc == 0 && i < r->options.env_count; i++) {
        const char *given = r->options.env[i];
        const char *value = getenv(given);

        if (strchr(given, '=') != NULL) {
            rc = ep_job_add_env(&r->job, given);
        } else if (value == NULL) {
            ep_run_say(r,
                       "--env %s: it is not in the environment; give "
                       "--env %s=VALUE",
                       given, given);
            return 2;
        } else if ((size_t)snprintf(entry, sizeof(entry), "%s=%s", given,
                                    value) >= sizeof(entry)) {
            ep_run_say(r,
                       "--env %s: its value is longer than 4000 bytes; leave "
                       "it out, it is passed on anyway",
                       given);
            return 2;
        } else {
            rc = ep_job_add_env(&r->job, entry);
        }
    }
    return rc == 0 ? 0 : ep_run_fail(r, "out of memory");
}

int ep_run_plan_job(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    char cwd[4096];
    int rc = 0;

    r->job.number = 1;
    r->job.is_raw = o->raw;
    r->job.merges_stderr = o->merge_stderr;
    r->job.open_ms = o->unbuffered || isatty(STDOUT_FILENO) ? 250 : 0;
    r->job.linger_ms = (uint32_t)(o->linger_s * 1000);
    r->job.cwd_is_optional = o->chdir == NULL;
    r->job.slow = o->slow;
    r->job.spill_bytes = o->spill_bytes;
    r->job.close_ms = (uint32_t)(o->close_s * 1000);
    if (o->spill_dir != NULL)
        rc = ep_job_set_spill_dir(&r->job, o->spill_dir);
    if (rc == 0 && o->chdir != NULL)
        rc = ep_job_set_cwd(&r->job, o->chdir);
    else if (rc == 0 && getcwd(cwd, sizeof(cwd)) != NULL)
        rc = ep_job_set_cwd(&r->job, cwd);
    for (char **arg = o->argv; rc == 0 && *arg != NULL; arg++)
        rc = ep_job_add_arg(&r->job, *arg);
    if (rc != 0)
        return ep_run_fail(r, "out of memory");
    rc = list_readers(r);
    return rc == 0 ? list_env(r) : rc;
}
