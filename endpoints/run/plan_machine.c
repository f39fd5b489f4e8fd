/* Finds out what a run must know about the machines of its hosts. */
#include <stdlib.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/machine.h"
#include "overlay/base/err.h"

/* --- whether machines must be known */

/* Tells whether the list of hosts gives slots. */
static bool has_slots(const struct topo_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (hosts->items[i].slots > 0)
            return true;
    }
    return false;
}

/* Tells whether the slots of hosts must be known. -n fills hosts up to their
 * slots; when the list gives none, a host has as many slots as cores. */
static bool needs_slots(const struct run_plan *p, const struct job_wish *app)
{
    return app->procs > 0 && app->ppn == 0 && p->nodes_wanted == 0 &&
           !ep_launcher_ops(p->launcher)->is_here && !has_slots(&p->hosts);
}

/* Finds out what depends on machines. Returns whether anything does. */
static bool find_needs(struct run_plan *p)
{
    struct ep_survey *survey = &p->survey;

    for (uint32_t i = 0; i < p->options->apps_count; i++) {
        const struct job_wish *app = &p->options->apps[i];

        survey->by_slots |= needs_slots(p, app);
        survey->by_cores |= survey->by_slots || app->per == TOPO_CORE;
        survey->by_sockets |= app->per == TOPO_SOCKET;
    }
    return survey->by_cores || survey->by_sockets;
}

/* --- what is known about machines */

/* Assumes that a host whose machine is unknown is like the host before it in
 * the list. Hosts before the first known one are like that one; when none is
 * known, all are like this machine. */
static int guess_others(struct run_plan *p)
{
    struct ep_survey *survey = &p->survey;
    struct topo_machine own = {0};
    struct ep_machine last = {0};
    char why[TOPO_WHY_MAX] = "";

    for (uint32_t i = 0; last.cores == 0 && i < survey->count; i++)
        last = survey->machines[i];
    if (last.cores == 0) {
        if (ep_machine_load(&own, why))
            return ep_voice_fail(p->voice, why);
        last =
            (struct ep_machine){.packages = own.packages, .cores = own.cores};
    }
    last.is_known = ep_launcher_ops(p->launcher)->is_here;
    for (uint32_t i = 0; i < survey->count; i++) {
        if (survey->machines[i].cores == 0)
            survey->machines[i] = last;
        last = survey->machines[i];
        last.is_known = ep_launcher_ops(p->launcher)->is_here;
    }
    return 0;
}

int ep_run_plan_machines(struct run_plan *p)
{
    struct ep_survey *survey = &p->survey;

    if (!find_needs(p))
        return 0;
    survey->count = p->hosts.count > 0 ? p->hosts.count : 1;
    survey->machines = calloc(survey->count, sizeof(survey->machines[0]));
    if (survey->machines == NULL)
        return ep_voice_fail(p->voice, "out of memory");
    for (uint32_t i = 0; i < p->hosts.count; i++)
        survey->machines[i] =
            ep_run_relaunch_machine(p->relaunch, topo_hosts_name(&p->hosts, i));
    return guess_others(p);
}

bool ep_run_survey_asks(const struct run_plan *plan)
{
    return plan->survey.machines != NULL &&
           !ep_launcher_ops(plan->launcher)->is_here;
}

void ep_run_survey_close(struct ep_survey *survey)
{
    free(survey->machines);
    *survey = (struct ep_survey){0};
}

/* --- binding */

int ep_run_plan_bind(struct run_plan *p)
{
    char why[TOPO_WHY_MAX] = "";
    struct topo_cpus cpus;
    int rc = 0;

    p->job->bind = p->options->bind;
    if (p->job->bind == TOPO_NO_OBJECT || !p->config.is_virtual)
        return 0;
    if (ep_machine_cpus(&cpus, p->job->bind, why))
        return ep_voice_fail(p->voice, why);
    for (uint32_t i = 0; rc == 0 && i < cpus.count; i++)
        rc = job_strings_add(&p->job->cpus, cpus.at[i]);
    topo_cpus_fini(&cpus);
    return rc == 0 ? 0 : ep_voice_fail(p->voice, "out of memory");
}
