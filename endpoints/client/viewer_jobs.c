/* The jobs that viewers look at, and what happens to their processes. */
#include "endpoints/client/viewer_jobs.h"

#include <stdlib.h>

#include "endpoints/client/viewer_impl.h"
#include "endpoints/client/watchers.h"
#include "endpoints/sys/clock.h"
#include "job/request.h"

struct ep_seen_job *ep_viewers_seen(const struct ep_viewers *all,
                                    uint32_t number)
{
    return all != NULL ? ep_seen_of(&all->seen, number) : NULL;
}

/* --- stdin */

void ep_viewers_has_stdin(struct ep_viewers *all, uint32_t first, uint32_t last,
                          bool is_open)
{
    const struct ep_seen_job *job = ep_viewers_seen(all, first);

    if (job == NULL)
        return;
    for (uint32_t rank = first - job->base;
         rank < job->size && job->base + rank <= last; rank++) {
        if (is_open)
            job->state[rank] |= EP_SEEN_READS;
        else
            job->state[rank] &= (uint8_t)~EP_SEEN_READS;
    }
}

void ep_viewers_behind(struct ep_viewers *all, uint32_t number, bool is_behind)
{
    struct ep_seen_job *job = ep_viewers_seen(all, number);
    uint8_t *state;

    if (job == NULL)
        return;
    state = &job->state[number - job->base];
    if (((*state & EP_SEEN_BEHIND) != 0) == is_behind ||
        (is_behind && (*state & EP_SEEN_OVER) != 0))
        /* A node that was given up may report late: the process is over
         * already. */
        return;
    *state ^= EP_SEEN_BEHIND;
    job->behind += is_behind ? 1 : UINT32_MAX;
    ep_viewers_soon(all);
}

/* --- the life of a job */

bool ep_viewers_job_add(struct ep_viewers *all, const struct ep_seen_job *like)
{
    struct ep_seen_job *job = ep_seen_add(&all->seen, like);

    for (uint32_t i = 0; job != NULL && i < job->parts; i++) {
        struct job_neighbours part;

        all->cfg.events->on_part(all->cfg.arg, job->base, i, &part);
        if (ep_seen_place(job, i, &part) == 0)
            continue;
        ep_seen_forget(&all->seen, job);
        return false;
    }
    if (job != NULL)
        ep_watchers_begun(all->watchers, job);
    return job != NULL;
}

void ep_viewers_started(struct ep_viewers *all, uint32_t number,
                        const uint32_t *pids, uint32_t count)
{
    struct ep_seen_job *job = ep_viewers_seen(all, number);

    if (job == NULL)
        return;
    ep_seen_started(job, number - job->base, pids, count);
    ep_watchers_look(all->watchers, job);
}

void ep_viewers_exit(struct ep_viewers *all, uint32_t number, uint32_t status,
                     struct job_span at)
{
    struct ep_seen_job *job = ep_viewers_seen(all, number);
    uint8_t *state;

    if (job == NULL)
        return;
    state = &job->state[number - job->base];
    if ((*state & EP_SEEN_OVER) == 0)
        ep_seen_exit(job, number - job->base, status);
    if (status != 0 && (*state & EP_SEEN_OVER) == 0)
        job_failure_add(&job->failure, number - job->base, (int)status, at);
    *state |= EP_SEEN_OVER | (EP_SEEN_OUTPUT & ~job->channels);
    *state &= (uint8_t)~EP_SEEN_READS;
    for (struct ep_viewer *v = all->first; v != NULL; v = v->next) {
        if (v->job == job)
            ep_viewer_exit(v, number - job->base);
    }
    ep_viewers_behind(all, number, false);
    ep_watchers_look(all->watchers, job);
}

static void tell_owner(struct ep_viewers *all, const struct ep_seen_job *job,
                       const struct ep_client_job *told)
{
    struct ep_viewer *at = all->first;

    while (at != NULL && (at->job != job || !at->is_owner))
        at = at->next;
    if (at != NULL)
        ep_viewer_tell(at, told);
}

/* Adds a job that begins. When no client here has asked for it, all its
 * channels are forwarded. */
static void begin_job(struct ep_viewers *all, const struct ep_client_job *told)
{
    const struct job_request *asked = all->asked;
    struct ep_seen_job job = {.base = told->base,
                              .size = told->size,
                              .apps = told->apps,
                              .parts = told->parts,
                              .cache_bytes = told->cache_bytes,
                              .channels = told->channels,
                              .forwards = EP_SEEN_OUTPUT,
                              .wish.cache_bytes = JOB_CACHE_UNSAID,
                              .name = (char *)(uintptr_t)told->nspace};

    if (asked != NULL) {
        job.forwards = asked->forwards & EP_SEEN_OUTPUT;
        job.wish = (struct ep_seen_wish){
            asked->drops_oldest, asked->cache_bytes, asked->buffer_bytes,
            asked->buffer_s, asked->notes_end};
        job.says = (asked->says_stages ? EP_SEEN_SAYS_STAGES : 0) |
                   (asked->says_end ? EP_SEEN_SAYS_END : 0);
    }
    (void)ep_viewers_job_add(all, &job);
}

void ep_viewers_job(struct ep_viewers *all, const struct ep_client_job *told)
{
    struct ep_seen_job *job = ep_viewers_seen(all, told->base);

    if (all != NULL && told->event == EP_CLIENT_JOB_BEGUN)
        begin_job(all, told);
    if (job == NULL || (job->is_over && told->event != EP_CLIENT_JOB_FORGOTTEN))
        return; /* Only FORGOTTEN may follow the end of a job. */
    job->is_started |= told->event != EP_CLIENT_JOB_BEGUN &&
                       told->event != EP_CLIENT_JOB_FIRST &&
                       told->event != EP_CLIENT_JOB_STALLED;
    job->is_over |= told->event == EP_CLIENT_JOB_ENDED;
    ep_viewers_soon(all);
    tell_owner(all, job, told);
    if (told->event == EP_CLIENT_JOB_ENDED)
        ep_watchers_ended(all->watchers, job);
    if (told->event == EP_CLIENT_JOB_FORGOTTEN ||
        (told->event == EP_CLIENT_JOB_ENDED && job->cache_bytes == 0))
        ep_seen_forget(&all->seen, job);
}
