/* Plans which ranks are on which host. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/programs.h"

/* The arguments of topo_programs_place(), with the memory that they borrow. */
struct asking {
    struct topo_programs_ask ask;
    struct topo_program programs[EP_RUN_APPS_MAX];
    /* a copy of the list with other slots; owns its items */
    struct topo_hosts hosts;
    uint32_t *ppn; /* owned: the processes per host of each program */
};

/* --- processes per core or socket */

/* Fails when `ppn' processes for each core or socket of the host are more than
 * a node can have. */
static int check_ppn(struct run_plan *p, const struct job_wish *app,
                     uint32_t host)
{
    uint32_t count = ep_machine_has(&p->survey.machines[host], app->per);
    uint64_t ppn = (uint64_t)app->ppn * count;

    if (ppn <= EP_RUN_PPN_MAX)
        return 0;
    ep_voice_say(
        p->voice,
        "--ppn %u:%s makes %llu processes on %s with %u of them: %d at "
        "most",
        app->ppn, topo_object_name(app->per), (unsigned long long)ppn,
        p->hosts.count > 0 ? topo_hosts_name(&p->hosts, host) : "a node", count,
        EP_RUN_PPN_MAX);
    return 2;
}

/* Sets the processes of a program on each host; a single number is enough when
 * all hosts have as many. */
static int count_program(struct run_plan *p, const struct job_wish *app,
                         uint32_t *ppn_of, struct topo_program *out)
{
    const struct ep_survey *survey = &p->survey;

    for (uint32_t i = 0; i < survey->count; i++) {
        int rc = check_ppn(p, app, i);

        if (rc != 0)
            return rc;
        ppn_of[i] = ep_machine_has(&survey->machines[i], app->per);
    }
    topo_program_count(out, app->ppn, ppn_of, survey->count);
    return 0;
}

/* --- placing */

static int fill_programs(struct run_plan *p, struct asking *out)
{
    const struct ep_run_options *o = p->options;
    int rc = 0;

    out->ppn = calloc((size_t)o->apps_count * (p->survey.count + 1),
                      sizeof(*out->ppn));
    if (out->ppn == NULL)
        return ep_voice_fail(p->voice, "out of memory");
    for (uint32_t i = 0; rc == 0 && i < o->apps_count; i++) {
        const struct job_wish *app = &o->apps[i];

        out->programs[i] = (struct topo_program){
            .name = app->program.argv[0], .procs = app->procs, .ppn = app->ppn};
        if (app->per != TOPO_NO_OBJECT)
            rc = count_program(p, app, out->ppn + i * p->survey.count,
                               &out->programs[i]);
    }
    out->ask = (struct topo_programs_ask){
        .hosts = p->hosts.count > 0 ? &p->hosts : NULL,
        .nodes = p->nodes_wanted,
        .programs = out->programs,
        .count = o->apps_count,
    };
    return rc;
}

/* Copies the list of hosts, and gives each host as many slots as it has
 * cores. */
static int give_slots(struct run_plan *p, struct asking *out)
{
    out->hosts = p->hosts;
    out->hosts.items = calloc(p->hosts.count, sizeof(out->hosts.items[0]));
    if (out->hosts.items == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < p->hosts.count; i++) {
        out->hosts.items[i] = p->hosts.items[i];
        out->hosts.items[i].slots = p->survey.machines[i].cores;
    }
    out->ask.hosts = &out->hosts;
    return 0;
}

/* Places the ranks. When hosts have fewer cores than there are ranks, and no
 * list gives slots, the ranks are spread over the hosts as if their cores were
 * not known. */
static int place_ranks(struct run_plan *p, struct asking *asking,
                       struct topo_programs *placed, char *why)
{
    int rc;

    if (!p->survey.by_slots)
        return topo_programs_place(placed, &asking->ask, why);
    rc = give_slots(p, asking);
    if (rc == 0)
        rc = topo_programs_place(placed, &asking->ask, why);
    if (rc == OV_EINVAL) {
        asking->ask.hosts = &p->hosts;
        rc = topo_programs_place(placed, &asking->ask, why);
    }
    return rc;
}

static bool is_all_known(const struct ep_survey *survey)
{
    for (uint32_t i = 0; i < survey->count; i++) {
        if (!survey->machines[i].is_known)
            return false;
    }
    return true;
}

/* Places one process on each host, none of which is started. This is for hosts
 * whose machines were only assumed, and by that assumption have no room: the
 * launch finds out what their machines are. */
static int place_blind(struct run_plan *p, struct asking *asking,
                       struct topo_programs *placed, char *why)
{
    p->survey.is_blind = true;
    asking->ask.hosts = &p->hosts;
    for (uint32_t i = 0; i < asking->ask.count; i++) {
        asking->programs[i].procs = asking->programs[i].ppn = 0;
        asking->programs[i].ppn_of = NULL;
    }
    return topo_programs_place(placed, &asking->ask, why);
}

/* --- putting ranks into the job */

/* Adds the programs to the job, with their ranks and how many of these are on
 * which node. */
static int list_ranks(struct run_plan *p, const struct topo_programs *placed)
{
    for (uint32_t i = 0; i < p->options->apps_count; i++) {
        if (job_add_app(p->job))
            return ep_voice_fail(p->voice, "out of memory");
    }
    for (uint32_t i = 0; i < placed->count; i++) {
        const struct topo_block *block = &placed->blocks[i];
        struct job_ranks ranks = {
            .nodes = {block->nodes.first + 1, block->nodes.last + 1},
            .each = block->each,
            .first_rank = block->first_rank,
        };

        if (job_app_add_ranks(&p->job->apps[block->program], ranks))
            return ep_voice_fail(p->voice, "out of memory");
    }
    p->job->size = placed->procs;
    p->job->nodes = placed->nodes;
    p->nodes_count = placed->nodes;
    return 0;
}

static int place_all(struct run_plan *p, uint32_t *most)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_programs placed;
    struct asking asking = {0};
    int rc = fill_programs(p, &asking);

    if (rc == 0) {
        rc = place_ranks(p, &asking, &placed, why);
        if (rc == OV_EINVAL && ep_run_survey_asks(p) &&
            !is_all_known(&p->survey))
            rc = place_blind(p, &asking, &placed, why);
        if (rc != 0) {
            ep_voice_say(p->voice, "%s", why);
            rc = rc == OV_EINVAL ? 2 : 1;
        } else {
            *most = topo_programs_most(&placed);
            rc = *most > 0 ? list_ranks(p, &placed)
                           : ep_voice_fail(p->voice, "out of memory");
            topo_programs_fini(&placed);
        }
    }
    free(asking.hosts.items);
    free(asking.ppn);
    return rc;
}

int ep_run_plan_ranks(struct run_plan *p, uint32_t *most)
{
    const struct ep_run_options *o = p->options;
    int rc = ep_run_plan_machines(p);

    if (rc == 0)
        rc = place_all(p, most);
    if (rc == 0 && p->hosts.count == 0 && (p->nodes_wanted > 0 || o->verbose))
        ep_voice_remark(p->voice,
                        "no hosts given: %u virtual node%s on this machine",
                        p->nodes_count, p->nodes_count == 1 ? "" : "s");
    return rc;
}
