/* Makes the descriptions of jobs, and drives their lives. */
#include "sim/jobs.h"

#include <stdlib.h>

#include "overlay/base/panic.h"
#include "sim/check_jobs.h"
#include "sim/pushes.h"

/* --- descriptions */

static void add_places(struct job *job, struct topo_range nodes)
{
    uint32_t first = job->nodes + 1;
    struct job_places places = {{first, first + nodes.last - nodes.first},
                                nodes.first};

    OV_ASSERT(job_add_places(job, places) == 0);
    job->nodes = places.places.last;
}

/* Places the job on those of the nodes that are not lost, in as few ranges as
 * possible. */
static void place_job(const struct sim_world *w, struct topo_range nodes,
                      struct job *job)
{
    uint32_t first = nodes.first;

    for (uint32_t n = nodes.first; n <= nodes.last; n++) {
        if (!w->hosts[n].node.is_lost)
            continue;
        if (first < n)
            add_places(job, (struct topo_range){first, n - 1});
        first = n + 1;
    }
    if (first <= nodes.last)
        add_places(job, (struct topo_range){first, nodes.last});
}

/* Puts `each` processes on each of the job's places. */
static void fill_places(struct job *job, uint32_t base, uint32_t each)
{
    struct job_ranks ranks = {{1, job->nodes}, each, 0};

    OV_ASSERT(job_add_app(job) == 0);
    OV_ASSERT(job_app_add_ranks(job_app_last(job), ranks) == 0);
    job->base = base;
    job->size = job->nodes * each;
}

static void add_range(struct job *job, struct topo_range nodes)
{
    struct topo_range ranks = {nodes.first - 1, nodes.last - 1};

    OV_ASSERT(job_add_reader(job, ranks) == 0);
}

/* Notes which ranks of the run's own job read stdin. Rank r is on node r +
 * 1. */
static void add_readers(const struct sim_world *w, struct job *job)
{
    const struct sim_job *cfg = &w->cfg.job;
    struct topo_range all = {1, job->nodes};

    if (cfg->has_stdin && cfg->targets_count == 0)
        add_range(job, all);
    for (uint32_t i = 0; cfg->has_stdin && i < cfg->targets_count; i++)
        add_range(job, cfg->targets[i]);
}

static struct sim_told *begin_life(struct sim_world *w, struct sim_told *job)
{
    OV_ASSERT(job_life_open(&job->life, &job->desc) == 0);
    sim_check_job_open(job);
    job->told_ns = w->step.now_ns;
    w->jobs.count++;
    for (uint32_t place = 1; place <= job->desc.nodes; place++) {
        struct sim_host *host = &w->hosts[job_node_at(&job->desc, place)];

        w->launcher->finals -= job_node_told(&host->node) == JOB_NODE_BUSY;
    }
    return job;
}

struct sim_told *sim_jobs_tell_own(struct sim_world *w)
{
    struct sim_told *job = &w->jobs.told[0];

    OV_ASSERT(w->jobs.count == 0);
    *job = (struct sim_told){.fate = w->cfg.job.fate, .tool = w->cfg.job.tool};
    job->desc.nodes = sim_nodes(w) - 1;
    fill_places(&job->desc, 0, 1);
    add_readers(w, &job->desc);
    return begin_life(w, job);
}

struct sim_told *sim_jobs_tell(struct sim_world *w,
                               const struct sim_further *further)
{
    struct sim_told *job = &w->jobs.told[w->jobs.count];
    const struct job *before = &w->jobs.told[w->jobs.count - 1].desc;

    OV_ASSERT(w->jobs.count > 0 && w->jobs.count < SIM_JOBS_MAX);
    *job = (struct sim_told){.fate = further->fate,
                             .tool = further->tool,
                             .lasts_ns = further->lasts_ns};
    place_job(w, further->nodes, &job->desc);
    if (job->desc.nodes == 0)
        return NULL;
    fill_places(&job->desc, before->base + before->size, further->each);
    job->tasks = calloc(job->desc.size, sizeof(*job->tasks));
    OV_ASSERT(job->tasks != NULL);
    return begin_life(w, job);
}

void sim_jobs_close(struct sim_world *w)
{
    for (uint32_t i = 0; i < w->jobs.count; i++) {
        sim_check_job_close(&w->jobs.told[i]);
        job_life_close(&w->jobs.told[i].life);
        job_fini(&w->jobs.told[i].desc);
        free(w->jobs.told[i].tasks);
    }
}

struct sim_told *sim_jobs_of(struct sim_world *w, uint32_t number,
                             uint32_t *rank)
{
    for (uint32_t i = 0; i < w->jobs.count; i++) {
        *rank = number - w->jobs.told[i].desc.base;
        if (*rank < w->jobs.told[i].desc.size)
            return &w->jobs.told[i];
    }
    return NULL;
}

/* --- lives */

struct job_life_news sim_jobs_step(struct sim_world *w, struct sim_told *job,
                                   const struct job_life_event *event)
{
    struct job_life_news news = job_life_step(&job->life, event);

    if (news.is_over)
        job->over_ns = w->step.now_ns;
    if (news.is_started)
        sim_pushes_begin(w, (uint32_t)(job - w->jobs.told));
    sim_check_job(w, job, event, &news);
    return news;
}

static void lose_node(struct sim_world *w, struct sim_told *job, uint32_t node)
{
    struct job_life_event event = {.kind = JOB_LIFE_PROCESS_LOST};
    struct job_part part = {0};

    while (job_next_on_node(&job->desc, node, &part)) {
        for (uint32_t i = 0; i < part.count; i++) {
            event.rank = part.first_rank + i;
            sim_jobs_step(w, job, &event);
        }
    }
    event = (struct job_life_event){.kind = JOB_LIFE_NODE_LOST, .node = node};
    if (part.count > 0)
        sim_jobs_step(w, job, &event);
}

void sim_jobs_lost(struct sim_world *w, uint32_t node)
{
    for (uint32_t i = 0; i < w->jobs.count; i++)
        lose_node(w, &w->jobs.told[i], node);
}

bool sim_jobs_are_over(const struct sim_world *w)
{
    for (uint32_t i = 0; i < w->jobs.count; i++) {
        if (w->jobs.told[i].life.state != JOB_LIFE_OVER)
            return false;
    }
    return true;
}
