/* Jobs that are over, in the order in which they ended. */
#include "endpoints/run/history.h"

#include <stdlib.h>

#include "job/job.h"
#include "overlay/base/err.h"

struct past_job {
    struct past_job *next;
    uint64_t over_ns; /* when the job ended */
    uint32_t base, size;
    uint32_t node[]; /* for each rank, the node on which it ran */
};

struct run_history {
    const struct run_history_events *events;
    void *arg;
    /* owned: the jobs; the first is the one that ended first */
    struct past_job *first;
    uint32_t count;
};

int ep_run_history_open(const struct run_history_events *events, void *arg,
                        struct run_history **out)
{
    struct run_history *past = calloc(1, sizeof(*past));

    *out = past;
    if (past == NULL)
        return OV_ENOMEM;
    past->events = events;
    past->arg = arg;
    return 0;
}

static struct past_job *take_first(struct run_history *past)
{
    struct past_job *job = past->first;

    past->first = job->next;
    past->count--;
    return job;
}

void ep_run_history_close(struct run_history *past)
{
    while (past != NULL && past->count > 0)
        free(take_first(past));
    free(past);
}

static void forget_first(struct run_history *past)
{
    struct past_job *job = take_first(past);

    past->events->on_forget(past->arg, job->base, job->size);
    free(job);
}

static void list_nodes(const struct job *job, uint32_t *node)
{
    for (uint32_t place = 1; place <= job->nodes; place++) {
        uint32_t at = job_node_at(job, place);
        struct job_part part = {0};

        while (job_next_on_node(job, at, &part)) {
            for (uint32_t i = 0; i < part.count; i++)
                node[part.first_rank + i] = at;
        }
    }
}

void ep_run_history_add(struct run_history *past, const struct job *job,
                        uint64_t now_ns)
{
    struct past_job *one =
        calloc(1, sizeof(*one) + job->size * sizeof(*one->node));
    struct past_job **at = &past->first;

    if (one == NULL) {
        past->events->on_forget(past->arg, job->base, job->size);
        return;
    }
    one->over_ns = now_ns;
    one->base = job->base;
    one->size = job->size;
    list_nodes(job, one->node);
    while (*at != NULL)
        at = &(*at)->next;
    *at = one;
    past->count++;
    (void)ep_run_history_tick(past, now_ns);
}

static bool has_too_much(const struct run_history *past, uint64_t now_ns)
{
    return past->count > RUN_HISTORY_MAX ||
           (past->first != NULL && now_ns - past->first->over_ns >=
                                       RUN_HISTORY_S * UINT64_C(1000000000));
}

bool ep_run_history_tick(struct run_history *past, uint64_t now_ns)
{
    while (has_too_much(past, now_ns) && !past->events->is_awaited(past->arg))
        forget_first(past);
    return past->first != NULL;
}

void ep_run_history_lost(struct run_history *past, uint32_t node)
{
    for (const struct past_job *job = past->first; job != NULL;
         job = job->next) {
        for (uint32_t rank = 0; rank < job->size; rank++) {
            if (job->node[rank] == node)
                past->events->on_lost(past->arg, job->base + rank, 1);
        }
    }
}
