/* Which ranks are on which host. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"
#include "topo/programs.h"

/* What placement is asked, with what it borrows. */
struct asking {
    struct topo_programs_ask ask;
    struct topo_program programs[EP_RUN_APPS_MAX];
    struct topo_hosts hosts; /* a copy with other slots; its items are owned */
    uint32_t *ppn;           /* owned: of each program, of each host */
};

/* --- processes by object
 * */

/* Not more than the session has memory for. */
static int check_ppn(struct run *r, const struct job_wish *app, uint32_t host)
{
    uint32_t count = ep_machine_has(&r->survey.machines[host], app->per);
    uint64_t ppn = (uint64_t)app->ppn * count;

    if (ppn <= EP_RUN_PPN_MAX)
        return 0;
    ep_voice_say(
        &r->voice,
        "--ppn %u:%s makes %llu processes on %s with %u of them: %d at "
        "most",
        app->ppn, topo_object_name(app->per), (unsigned long long)ppn,
        r->hosts.count > 0 ? topo_hosts_name(&r->hosts, host) : "a node", count,
        EP_RUN_PPN_MAX);
    return 2;
}

/* A number alone where all hosts have as many. */
static int count_program(struct run *r, const struct job_wish *app,
                         uint32_t *ppn_of, struct topo_program *out)
{
    const struct ep_survey *survey = &r->survey;

    for (uint32_t i = 0; i < survey->count; i++) {
        int rc = check_ppn(r, app, i);

        if (rc != 0)
            return rc;
        ppn_of[i] = ep_machine_has(&survey->machines[i], app->per);
    }
    topo_program_count(out, app->ppn, ppn_of, survey->count);
    return 0;
}

/* --- asking */

static int fill_programs(struct run *r, struct asking *out)
{
    const struct ep_run_options *o = &r->options;
    int rc = 0;

    out->ppn = calloc((size_t)o->apps_count * (r->survey.count + 1),
                      sizeof(*out->ppn));
    if (out->ppn == NULL)
        return ep_voice_fail(&r->voice, "out of memory");
    for (uint32_t i = 0; rc == 0 && i < o->apps_count; i++) {
        const struct job_wish *app = &o->apps[i];

        out->programs[i] = (struct topo_program){
            .name = app->program.argv[0], .procs = app->procs, .ppn = app->ppn};
        if (app->per != TOPO_NO_OBJECT)
            rc = count_program(r, app, out->ppn + i * r->survey.count,
                               &out->programs[i]);
    }
    out->ask = (struct topo_programs_ask){
        .hosts = r->hosts.count > 0 ? &r->hosts : NULL,
        .nodes = o->nodes,
        .programs = out->programs,
        .count = o->apps_count,
    };
    return rc;
}

/* The list with the cores of each host as its slots. */
static int give_slots(struct run *r, struct asking *out)
{
    out->hosts = r->hosts;
    out->hosts.items = calloc(r->hosts.count, sizeof(out->hosts.items[0]));
    if (out->hosts.items == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < r->hosts.count; i++) {
        out->hosts.items[i] = r->hosts.items[i];
        out->hosts.items[i].slots = r->survey.machines[i].cores;
    }
    out->ask.hosts = &out->hosts;
    return 0;
}

/* Where the cores are too few and no list says how many are enough the hosts
 * share as if nobody knew their cores. */
static int place(struct run *r, struct asking *asking,
                 struct topo_programs *placed, char *why)
{
    int rc;

    if (!r->survey.by_slots)
        return topo_programs_place(placed, &asking->ask, why);
    rc = give_slots(r, asking);
    if (rc == 0)
        rc = topo_programs_place(placed, &asking->ask, why);
    if (rc == OV_EINVAL) {
        asking->ask.hosts = &r->hosts;
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

/* A guess may have no room where the hosts have: they are asked by a launch
 * with one process each, none of which starts. */
static int place_blind(struct run *r, struct asking *asking,
                       struct topo_programs *placed, char *why)
{
    r->survey.is_blind = true;
    asking->ask.hosts = &r->hosts;
    for (uint32_t i = 0; i < asking->ask.count; i++) {
        asking->programs[i].procs = asking->programs[i].ppn = 0;
        asking->programs[i].ppn_of = NULL;
    }
    return topo_programs_place(placed, &asking->ask, why);
}

/* --- the job
 * */

/* The job's programs with their ranks, and how many are where. */
static int list_ranks(struct run *r, const struct topo_programs *placed)
{
    for (uint32_t i = 0; i < r->options.apps_count; i++) {
        if (job_add_app(&r->own.desc))
            return ep_voice_fail(&r->voice, "out of memory");
    }
    for (uint32_t i = 0; i < placed->count; i++) {
        const struct topo_block *block = &placed->blocks[i];
        struct job_ranks ranks = {
            .nodes = {block->nodes.first + 1, block->nodes.last + 1},
            .each = block->each,
            .first_rank = block->first_rank,
        };

        if (job_app_add_ranks(&r->own.desc.apps[block->program], ranks))
            return ep_voice_fail(&r->voice, "out of memory");
    }
    r->own.desc.size = placed->procs;
    r->own.desc.nodes = placed->nodes;
    r->nodes_count = placed->nodes;
    return 0;
}

static int place_all(struct run *r, uint32_t *most)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_programs placed;
    struct asking asking = {0};
    int rc = fill_programs(r, &asking);

    if (rc == 0) {
        rc = place(r, &asking, &placed, why);
        if (rc == OV_EINVAL && ep_run_survey_asks(r) &&
            !is_all_known(&r->survey))
            rc = place_blind(r, &asking, &placed, why);
        if (rc != 0) {
            ep_voice_say(&r->voice, "%s", why);
            rc = rc == OV_EINVAL ? 2 : 1;
        } else {
            *most = topo_programs_most(&placed);
            rc = *most > 0 ? list_ranks(r, &placed)
                           : ep_voice_fail(&r->voice, "out of memory");
            topo_programs_fini(&placed);
        }
    }
    free(asking.hosts.items);
    free(asking.ppn);
    return rc;
}

int ep_run_plan_ranks(struct run *r, uint32_t *most)
{
    const struct ep_run_options *o = &r->options;
    int rc = ep_run_plan_machines(r);

    if (rc == 0)
        rc = place_all(r, most);
    if (rc == 0 && r->hosts.count == 0 && (o->nodes > 0 || o->verbose))
        ep_voice_say(&r->voice,
                     "no hosts given: %u virtual node%s on this machine",
                     r->nodes_count, r->nodes_count == 1 ? "" : "s");
    return rc;
}
