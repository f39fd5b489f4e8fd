/* Jobs that are over, in the order of their ends. */
#include "endpoints/run/past.h"

#include <stdlib.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"

struct run_past {
    struct run_past *next;
    uint32_t base, size;
    uint32_t node[]; /* of each rank */
};

static void forget(struct run *r, uint32_t base, uint32_t size)
{
    const struct ep_tap_job told = {
        .event = EP_TAP_JOB_FORGOTTEN, .base = base, .size = size};
    uint8_t body[4];
    struct ov_wr wr = ov_wr_init(body, sizeof(body));

    ov_wr_u32(&wr, base);
    ep_run_tap_job(r, &told);
    ep_run_orders_send(r->orders, JOB_CONTROL_FORGET, body, sizeof(body));
}

static void forget_first(struct run *r)
{
    struct run_past *past = r->pasts;

    r->pasts = past->next;
    r->pasts_count--;
    forget(r, past->base, past->size);
    free(past);
}

static void list_nodes(const struct run *r, const struct job *job,
                       uint32_t *node)
{
    for (uint32_t n = 1; n <= r->nodes_count; n++) {
        struct job_part part = {0};

        while (job_next_on_node(job, n, &part)) {
            for (uint32_t i = 0; i < part.count; i++)
                node[part.first_rank + i] = n;
        }
    }
}

void ep_run_past_add(struct run *r, const struct job *job)
{
    struct run_past *past =
        calloc(1, sizeof(*past) + job->size * sizeof(*past->node));
    struct run_past **at = &r->pasts;

    if (past == NULL) {
        forget(r, job->base, job->size);
        return;
    }
    past->base = job->base;
    past->size = job->size;
    list_nodes(r, job, past->node);
    while (*at != NULL)
        at = &(*at)->next;
    *at = past;
    r->pasts_count++;
    while (r->pasts_count > RUN_PASTS_MAX && !ep_run_tap_replays(r))
        forget_first(r);
}

void ep_run_past_lost(struct run *r, uint32_t node)
{
    for (const struct run_past *past = r->pasts; past != NULL;
         past = past->next) {
        for (uint32_t rank = 0; rank < past->size; rank++) {
            if (past->node[rank] == node)
                ep_run_tap_lost(r, past->base + rank, 1);
        }
    }
}

void ep_run_past_close(struct run *r)
{
    while (r->pasts != NULL) {
        struct run_past *past = r->pasts;

        r->pasts = past->next;
        free(past);
    }
}
