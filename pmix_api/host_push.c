/* Who has a stdin, and what tools push to it. */
#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/host_impl.h"

/* Of all processes with these numbers that there are. */
static void set_bits(struct px_host *host, struct topo_range range, uint8_t set,
                     uint8_t clear)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        uint32_t first = range.first > job->base ? range.first - job->base : 0;

        for (uint32_t rank = first;
             rank < job->size && job->base + rank <= range.last; rank++) {
            job->stdin_state[rank] &= (uint8_t)~clear;
            job->stdin_state[rank] |= set;
        }
    }
}

/* A helper that is started again must know whose stdin a tool has closed. */
static void note_closed(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        for (uint32_t rank = 0; rank < job->size; rank++) {
            if (job->stdin_state[rank] & PX_STDIN_NAMED)
                job->stdin_state[rank] &= (uint8_t)~PX_STDIN_OPEN;
        }
    }
}

int px_push_heard(struct px_host *host, const struct px_push *heard)
{
    struct ov_push push;

    if (ov_push_decode(heard->mem, heard->len_bytes, &push) ||
        heard->len_bytes > host->cfg.push_bytes ||
        host->pushes_held >= 2 * PX_PUSHES_MAX)
        return OV_EPROTO;
    if ((push.flags & OV_PUSH_NEW) != 0)
        set_bits(host, (struct topo_range){0, UINT32_MAX}, 0, PX_STDIN_NAMED);
    for (unsigned i = 0; i < push.ranges; i++)
        set_bits(host, ov_push_range(&push), PX_STDIN_NAMED, 0);
    if ((push.flags & OV_PUSH_CLOSE) != 0)
        note_closed(host);
    host->pushes_held++;
    host->cfg.events->on_push(host->cfg.arg, heard->mem, heard->len_bytes);
    return 0;
}

void px_push_hold(struct px_host *host, bool are_there)
{
    host->cfg.events->on_pushers(host->cfg.arg, are_there);
    host->is_held_due = are_there;
    px_queue_soon(host);
}

void px_push_begin(struct px_host *host)
{
    host->grants_due = PX_PUSHES_MAX;
    host->is_held_due = false;
}

void px_host_stdin(struct px_host *host, uint32_t first, uint32_t last,
                   bool is_open)
{
    struct px_host_job *job = px_job_of(host, first);

    set_bits(host, (struct topo_range){first, last},
             is_open ? PX_STDIN_OPEN : 0, is_open ? 0 : PX_STDIN_OPEN);
    if (job != NULL && job->stdin_told > first - job->base)
        job->stdin_told = first - job->base;
    px_queue_wake(host);
}
