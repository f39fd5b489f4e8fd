/* Lists processes by their ranks and hosts. */
#include "endpoints/run/roll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/plan.h"
#include "job/life.h"
#include "topo/hosts.h"

enum { WORDS_RANKS = 20, WORDS_HOSTS = 24 };

/* --- ranks */

static void write_ranks(struct topo_ranges *set, uint32_t ranks_bytes,
                        struct run_roll *out)
{
    const uint32_t most =
        ranks_bytes < sizeof(out->ranks) ? ranks_bytes : sizeof(out->ranks) - 1;

    /* At least one range is shown. */
    while (set->count > 1 && topo_ranges_format(set, NULL, 0) > most)
        set->count--;
    topo_ranges_format(set, out->ranks, sizeof(out->ranks) - 4);
    out->is_short = strchr(out->ranks, '-') == NULL;
    if (topo_ranges_size(set) < out->count) {
        strcat(out->ranks, ",...");
        out->is_short = false;
    }
}

static void list_ranks(const struct job_life *life, uint8_t state,
                       uint32_t ranks_bytes, struct run_roll *out)
{
    struct topo_range items[RUN_ROLL_RANGES];
    struct topo_ranges set;
    bool is_full = false;

    topo_ranges_init(&set, items, RUN_ROLL_RANGES);
    for (uint32_t rank = 0; rank < life->job->size; rank++) {
        if (life->processes[rank] != state)
            continue;
        out->count++;
        is_full = is_full ||
                  topo_ranges_add(&set, (struct topo_range){rank, rank}) != 0;
    }
    write_ranks(&set, ranks_bytes, out);
}

/* --- hosts */

/* Marks the places with such a process whose rank is in these ranges. */
static void mark_places(const struct job_life *life, uint8_t state,
                        const struct job_ranks *ranks, bool *places)
{
    uint32_t rank = ranks->first_rank;

    for (uint32_t place = ranks->nodes.first; place <= ranks->nodes.last;
         place++) {
        for (uint32_t i = 0; i < ranks->each; i++, rank++)
            places[place] |= life->processes[rank] == state;
    }
}

static void add_host(struct topo_hosts *hosts, const char *host)
{
    if (topo_hosts_find(hosts, host, strlen(host)) == TOPO_NONE)
        (void)topo_hosts_add(hosts, host, strlen(host), 0);
}

static char *list_hosts(const struct run_plan *plan,
                        const struct job_life *life, uint8_t state,
                        uint32_t hosts_bytes)
{
    const struct job *job = life->job;
    bool *places = calloc((size_t)job->nodes + 1, sizeof(*places));
    struct topo_hosts hosts;
    char *text;

    if (places == NULL)
        return NULL;
    for (uint32_t a = 0; a < job->apps_count; a++) {
        for (uint32_t i = 0; i < job->apps[a].ranks_count; i++)
            mark_places(life, state, &job->apps[a].ranks[i], places);
    }
    topo_hosts_init(&hosts);
    for (uint32_t place = 1; place <= job->nodes; place++) {
        if (places[place])
            add_host(&hosts, ep_run_host(plan, job_node_at(job, place)));
    }
    free(places);
    text = topo_hosts_fold_short(&hosts, hosts_bytes);
    topo_hosts_fini(&hosts);
    return text;
}

/* --- ranks and hosts together */

void ep_run_roll_call(const struct run_plan *plan, const struct job_life *life,
                      uint8_t state, uint32_t ranks_bytes, uint32_t hosts_bytes,
                      struct run_roll *out)
{
    *out = (struct run_roll){0};
    list_ranks(life, state, ranks_bytes, out);
    if (out->count > 0)
        out->hosts = list_hosts(plan, life, state, hosts_bytes);
}

void ep_run_roll_fini(struct run_roll *roll)
{
    free(roll->hosts);
    roll->hosts = NULL;
}

uint32_t ep_run_roll_words(const struct run_plan *plan,
                           const struct job_life *life, uint8_t state,
                           uint32_t all, char *text)
{
    struct run_roll roll;
    char number[32] = "", of[32] = "";

    ep_run_roll_call(plan, life, state, WORDS_RANKS, WORDS_HOSTS, &roll);
    if (all > 0)
        snprintf(of, sizeof(of), " (%u of %u)", roll.count, all);
    else if (!roll.is_short)
        snprintf(number, sizeof(number), " (%u)", roll.count);
    snprintf(text, RUN_ROLL_MAX, "rank%s %s%s on %s%s",
             roll.count == 1 ? "" : "s", roll.ranks, number,
             roll.hosts != NULL ? roll.hosts : "?", of);
    ep_run_roll_fini(&roll);
    return roll.count;
}
