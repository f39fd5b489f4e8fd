/* Builds the struct of a job, and finds out which rank is on which node. */
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/wire/frame.h"

void job_fini(struct job *job)
{
    for (uint32_t i = 0; i < job->apps_count; i++)
        job_app_fini(&job->apps[i]);
    free(job->apps);
    free(job->readers);
    free(job->places);
    free(job->spill_dir);
    job_strings_fini(&job->env);
    job_strings_fini(&job->cpus);
    job_filter_fini(&job->filter);
    *job = (struct job){0};
}

int job_add_app(struct job *job)
{
    struct job_app *items;

    if (job->apps_count == JOB_APPS_MAX)
        return OV_EFULL;
    items =
        job_grown(job->apps, &job->apps_cap, job->apps_count, sizeof(*items));
    if (items == NULL)
        return OV_ENOMEM;
    job->apps = items;
    items[job->apps_count++] = (struct job_app){0};
    return 0;
}

struct job_app *job_app_last(struct job *job)
{
    return &job->apps[job->apps_count - 1];
}

int job_add_reader(struct job *job, struct topo_range ranks)
{
    struct topo_range *items = job_grown(job->readers, &job->readers_cap,
                                         job->readers_count, sizeof(*items));

    if (items == NULL)
        return OV_ENOMEM;
    job->readers = items;
    items[job->readers_count++] = ranks;
    return 0;
}

int job_add_places(struct job *job, struct job_places places)
{
    struct job_places *items = job_grown(job->places, &job->places_cap,
                                         job->places_count, sizeof(*items));

    if (items == NULL)
        return OV_ENOMEM;
    job->places = items;
    items[job->places_count++] = places;
    return 0;
}

/* True when one of these strings, from `first` on, sets the same variable. */
static bool has_name(const struct job_strings *strings, uint32_t first,
                     const char *entry)
{
    size_t len = strcspn(entry, "=");

    for (uint32_t i = first; i < strings->count; i++) {
        if (strncmp(strings->at[i], entry, len) == 0 &&
            strings->at[i][len] == '=')
            return true;
    }
    return false;
}

const char **job_app_env(const struct job *job, uint32_t app)
{
    const struct job_strings *own = &job->apps[app].env;
    const char **env =
        calloc((size_t)job->env.count + own->count + 1, sizeof(*env));
    uint32_t count = 0;

    if (env == NULL)
        return NULL;
    for (uint32_t i = 0; i < job->env.count; i++) {
        if (!has_name(own, 0, job->env.at[i]))
            env[count++] = job->env.at[i];
    }
    for (uint32_t i = 0; i < own->count; i++) {
        if (!has_name(own, i + 1, own->at[i]))
            env[count++] = own->at[i];
    }
    return env;
}

/* --- which rank is where */

uint32_t job_place(const struct job *job, uint32_t node)
{
    if (job->places_count == 0)
        return node;
    for (uint32_t i = 0; i < job->places_count; i++) {
        const struct job_places *p = &job->places[i];

        if (node >= p->node &&
            node - p->node <= p->places.last - p->places.first)
            return p->places.first + (node - p->node);
    }
    return TOPO_NONE;
}

/* The index in job->places of the range with this place; there must be one. */
static uint32_t find_places(const struct job *job, uint32_t place)
{
    uint32_t low = 0, high = job->places_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (job->places[middle].places.first <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t job_node_at(const struct job *job, uint32_t place)
{
    const struct job_places *p;

    if (job->places_count == 0)
        return place;
    p = &job->places[find_places(job, place)];
    return p->node + (place - p->places.first);
}

bool job_next_on_node(const struct job *job, uint32_t node,
                      struct job_part *part)
{
    uint32_t app = part->count > 0 ? part->app + 1 : 0;
    uint32_t place = job_place(job, node);

    for (; app < job->apps_count; app++) {
        const struct job_app *a = &job->apps[app];

        for (uint32_t i = 0; i < a->ranks_count; i++) {
            const struct job_ranks *r = &a->ranks[i];

            if (place < r->nodes.first || place > r->nodes.last)
                continue;
            part->app = app;
            part->first_rank =
                r->first_rank + (place - r->nodes.first) * r->each;
            part->count = r->each;
            return true;
        }
    }
    return false;
}

uint32_t job_on_node(const struct job *job, uint32_t node)
{
    struct job_part part = {0};
    uint32_t count = 0;

    while (job_next_on_node(job, node, &part))
        count += part.count;
    return count;
}

uint32_t job_node_of(const struct job *job, uint32_t rank, uint32_t *app)
{
    for (uint32_t a = 0; a < job->apps_count; a++) {
        for (uint32_t i = 0; i < job->apps[a].ranks_count; i++) {
            const struct job_ranks *r = &job->apps[a].ranks[i];
            uint32_t nodes = r->nodes.last - r->nodes.first + 1;

            if (r->each == 0 || rank < r->first_rank ||
                (rank - r->first_rank) / r->each >= nodes)
                continue;
            if (app != NULL)
                *app = a;
            return job_node_at(job, r->nodes.first +
                                        (rank - r->first_rank) / r->each);
        }
    }
    return TOPO_NONE;
}

/* Adds the nodes of a range of places, all of which must exist. *nodes needs
 * room for as many further ranges as job->places has. */
static void add_places(const struct job *job, struct topo_range places,
                       struct topo_ranges *nodes)
{
    while (places.first <= places.last) {
        uint32_t last = places.last, node = job_node_at(job, places.first);
        uint32_t end = last;

        if (job->places_count > 0)
            end = job->places[find_places(job, places.first)].places.last;
        last = end < last ? end : last;
        (void)topo_ranges_add(
            nodes, (struct topo_range){node, node + (last - places.first)});
        places.first = last + 1;
    }
}

static uint32_t place_of(const struct job *job, uint32_t rank)
{
    return job_place(job, job_node_of(job, rank, NULL));
}

/* Adds the nodes of those ranks in the range `ranks` that belong to the
 * program. */
static void add_nodes(const struct job *job, const struct job_app *app,
                      struct topo_range ranks, struct topo_ranges *nodes)
{
    const struct job_ranks *end = &app->ranks[app->ranks_count - 1];
    uint32_t first = app->ranks[0].first_rank;
    uint32_t last = end->first_rank - 1 +
                    end->each * (end->nodes.last - end->nodes.first + 1);

    if (ranks.first > first)
        first = ranks.first;
    if (ranks.last < last)
        last = ranks.last;
    if (first <= last)
        add_places(
            job, (struct topo_range){place_of(job, first), place_of(job, last)},
            nodes);
}

void job_reader_nodes(const struct job *job, struct topo_ranges *nodes)
{
    for (uint32_t i = 0; i < job->readers_count; i++) {
        for (uint32_t app = 0; app < job->apps_count; app++)
            add_nodes(job, &job->apps[app], job->readers[i], nodes);
    }
}

uint32_t job_channels(const struct job *job)
{
    uint32_t channels = 1u << OV_CHANNEL_STDOUT;

    if (!job->merges_stderr)
        channels |= 1u << OV_CHANNEL_STDERR;
    if (job->has_stddiag)
        channels |= 1u << OV_CHANNEL_STDDIAG;
    return channels;
}

bool job_reads(const struct job *job, uint32_t rank)
{
    uint32_t low = 0, high = job->readers_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rank < job->readers[middle].first)
            high = middle;
        else if (rank > job->readers[middle].last)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

uint32_t job_readers(const struct job *job)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->readers_count; i++)
        count += job->readers[i].last - job->readers[i].first + 1;
    return count;
}
