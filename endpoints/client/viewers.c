/* Clients that look at jobs, and what the launcher reports to them. */
#include "endpoints/client/viewers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "endpoints/client/viewer_impl.h"
#include "endpoints/client/viewer_jobs.h"
#include "endpoints/client/viewer_left.h"
#include "endpoints/client/watchers.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

/* How long the end of a session waits for clients: FLUSH_S for one that reads
 * nothing, and FLUSH_LOOKS_MAX times that for one that reads slowly. */
enum { FLUSH_S = 5, FLUSH_LOOKS_MAX = 12 };

static const struct timeval flush_limit = {.tv_sec = FLUSH_S};

#define POOL_BYTES ((uint64_t)16 << 20)

static void free_event(struct event **event)
{
    if (*event != NULL)
        event_free(*event);
    *event = NULL;
}

static struct ep_viewer *first_of(const struct ep_viewers *all)
{
    return all != NULL ? all->first : NULL;
}

static void cut(struct ep_viewer *viewer, const char *why)
{
    const struct ep_viewer_events *events = viewer->events;
    void *arg = viewer->arg;

    ep_viewer_close(viewer);
    events->on_cut(arg, why);
}

/* --- output */

/* Notes the end of a channel. Returns false when the record says nothing but an
 * end that was known already. */
static bool note_end(struct ep_seen_job *job, struct job_record *rec)
{
    uint8_t *state = &job->state[rec->proc - job->base];
    const uint8_t bit = (uint8_t)(1u << rec->channel);

    if (!rec->is_end)
        return true;
    rec->is_end = (*state & bit) == 0;
    if (rec->is_end && (job->channels & bit) != 0)
        job->open--;
    *state |= bit;
    return rec->is_end || rec->len_bytes > 0;
}

/* Tells clients that watch that a channel has ended, after all its output. */
static void tell_end(struct ep_viewers *all, struct ep_seen_job *job,
                     const struct job_record *end)
{
    if (end->is_cut)
        ep_watchers_broken(all->watchers, end->proc, end->channel);
    ep_watchers_look(all->watchers, job);
}

bool ep_viewers_output(struct ep_viewers *all, const struct job_record *rec)
{
    struct ep_seen_job *job = ep_viewers_seen(all, rec->proc);
    struct job_record its = *rec;
    bool is_taken = false;

    if (job == NULL || rec->channel < 1 || rec->channel > EP_VIEWER_CHANNELS ||
        (rec->ticket == 0 && !note_end(job, &its)))
        return false;
    if (rec->is_redirected)
        ep_escrows_record(all->escrows);
    for (struct ep_viewer *at = all->first; at != NULL; at = at->next) {
        if (at->job == job && at->is_pulling)
            is_taken |= ep_viewer_output(at, &its);
    }
    if (its.is_end && its.ticket == 0)
        tell_end(all, job, &its);
    return is_taken;
}

bool ep_viewers_has_room(const struct ep_viewers *all,
                         const struct job_record *rec)
{
    for (const struct ep_viewer *at = first_of(all); at != NULL;
         at = at->next) {
        if (!ep_viewer_has_room(at, rec))
            return false;
    }
    return true;
}

bool ep_viewers_redirects(const struct ep_viewers *all, uint32_t number,
                          uint8_t channel)
{
    for (const struct ep_viewer *at = first_of(all); at != NULL;
         at = at->next) {
        if (ep_viewer_redirects(at, number, channel))
            return true;
    }
    return false;
}

bool ep_viewers_gives_back(const struct ep_viewers *all, uint32_t number,
                           uint8_t channel)
{
    return all != NULL && ep_escrows_return(all->escrows, number, channel);
}

void ep_viewers_took_back(struct ep_viewers *all)
{
    if (all != NULL)
        ep_escrows_took_back(all->escrows);
}

bool ep_viewers_wants(const struct ep_viewers *all, uint32_t number,
                      uint8_t channel)
{
    for (const struct ep_viewer *at = first_of(all); at != NULL;
         at = at->next) {
        if (at->job != NULL && ep_viewer_wants(at, number, channel))
            return true;
    }
    return false;
}

bool ep_viewers_replays(const struct ep_viewers *all)
{
    for (const struct ep_viewer *at = first_of(all); at != NULL;
         at = at->next) {
        if (at->late.waits != NULL)
            return true;
    }
    return false;
}

/* Notes that a process is lost, so that nobody will know how it ends. */
static void note_lost(struct ep_seen_job *job, uint32_t rank)
{
    if ((job->state[rank] & EP_SEEN_OVER) == 0)
        job_failure_lost(&job->failure);
    job->state[rank] |= EP_SEEN_LOST | (EP_SEEN_OUTPUT & ~job->channels);
}

void ep_viewers_lost(struct ep_viewers *all, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ep_seen_job *job = ep_viewers_seen(all, first + i);

        if (job == NULL)
            continue;
        note_lost(job, first + i - job->base);
        for (struct ep_viewer *at = all->first; at != NULL; at = at->next) {
            if (at->job == job)
                ep_viewer_lost(at, first + i);
        }
    }
}

/* --- stdin */

void ep_viewers_pushed(struct ep_viewers *all, uint32_t writer)
{
    struct ep_viewer *at = first_of(all);

    while (at != NULL && (at->job == NULL || at->number != writer))
        at = at->next;
    if (at != NULL)
        ep_viewer_pushed(at);
}

void ep_viewers_logged(struct ep_viewers *all, uint32_t token)
{
    if (all != NULL)
        ep_watchers_logged(all->watchers, token);
}

static void tell_pushers(struct ep_viewers *all)
{
    bool are_there = false;

    for (const struct ep_viewer *at = all->first; at != NULL; at = at->next)
        are_there |= at->in.is_there && at->job->base == 0;
    if (are_there == all->have_pushers || all->cfg.events == NULL)
        return;
    all->have_pushers = are_there;
    all->cfg.events->on_pushers(all->cfg.arg, are_there);
}

/* --- the end of all output */

static bool has_untaken(const struct ep_viewer *viewer)
{
    return viewer->escrow != NULL && !ep_escrow_is_empty(viewer->escrow);
}

static bool is_flushed(const struct ep_viewers *all)
{
    for (const struct ep_viewer *at = all->first; at != NULL; at = at->next) {
        if (at->job != NULL &&
            (at->is_behind || has_untaken(at) || !ep_outbox_is_empty(at->box)))
            return false;
    }
    return ep_watchers_are_told(all->watchers) &&
           ep_escrows_are_back(all->escrows);
}

static uint64_t moved(const struct ep_viewers *all)
{
    return all->pool.sent + all->awaited.sent +
           ep_watchers_sent(all->watchers) + ep_escrows_moved(all->escrows);
}

/* Disconnects redirecting clients that have not taken all their output, so that
 * it is given back while there is a console. */
static bool cut_untaken(struct ep_viewers *all)
{
    struct ep_viewer *at = all->first;

    while (at != NULL && !(at->redirects && has_untaken(at)))
        at = at->next;
    if (at == NULL)
        return false;
    cut(at, "the session is over: output that this client has not "
            "acknowledged is shown on the session's console");
    (void)cut_untaken(all);
    return true;
}

static void end_flush(struct ep_viewers *all)
{
    free_event(&all->limit);
    all->cfg.events->on_flushed(all->cfg.arg);
}

/* Gives clients more time as long as they take something, or output is given
 * back. */
static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct ep_viewers *all = arg;
    const bool is_over =
        moved(all) == all->moved || ++all->looks == FLUSH_LOOKS_MAX;

    (void)fd;
    (void)what;
    if (is_over && !cut_untaken(all)) {
        end_flush(all);
        return;
    }
    if (is_over)
        all->looks = 0;
    all->moved = moved(all);
    event_add(all->limit, &flush_limit);
}

static void on_change(struct ep_viewers *all)
{
    tell_pushers(all);
    for (struct ep_viewer *at = all->first; at != NULL; at = at->next)
        ep_viewer_hold(at);
    if (all->limit != NULL && is_flushed(all))
        end_flush(all);
}

bool ep_viewers_flush(struct ep_viewers *all)
{
    if (all == NULL)
        return false;
    ep_watchers_flush(all->watchers);
    if (is_flushed(all))
        return false;
    all->moved = moved(all);
    all->looks = 0;
    all->limit = evtimer_new(all->cfg.base, on_limit, all);
    if (all->limit != NULL)
        event_add(all->limit, &flush_limit);
    return all->limit != NULL;
}

/* --- what may not be done within a call */

/* Goes through the clients in the order in which they asked. */
void ep_viewers_again(struct ep_viewers *all)
{
    struct ep_viewer *next;

    if (all == NULL)
        return;
    ep_viewers_left_on(all);
    for (struct ep_viewer *at = all->first; at != NULL; at = next) {
        const char *why = at->request.is_whole ? ep_viewer_spawn_on(at) : NULL;

        next = at->next;
        if (why != NULL)
            cut(at, why);
    }
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct ep_viewers *all = arg;

    (void)fd;
    (void)what;
    if (all->is_new)
        ep_viewers_again(all);
    all->is_new = false;
    for (struct ep_viewer *at = all->first; at != NULL; at = at->next) {
        if (at->job == NULL)
            continue;
        ep_viewer_push_on(at);
        if (ep_outbox_is_empty(at->box))
            ep_viewer_send(at);
    }
    on_change(all);
}

static void wait_for_kill(const struct ep_viewers *all, uint64_t wait_ns)
{
    const uint64_t wait_us = wait_ns / 1000 + 1;
    const struct timeval wait = {.tv_sec = (time_t)(wait_us / 1000000),
                                 .tv_usec = (suseconds_t)(wait_us % 1000000)};

    event_add(all->kills, &wait);
}

/* Kills the jobs that are due, and sets the timer for the next one. The event
 * may fire early, when the loop's clock lags behind. */
static void on_kills(evutil_socket_t fd, short what, void *arg)
{
    struct ep_viewers *all = arg;
    const uint64_t now_ns = ep_clock_ns();
    uint64_t next_ns = UINT64_MAX;

    (void)fd;
    (void)what;
    for (struct ep_seen_job *job = all->seen.jobs; job != NULL;
         job = job->next) {
        const struct topo_range range = {job->base, job->base + job->size - 1};

        if (job->kill_ns == 0 || job->is_over)
            continue;
        if (job->kill_ns > now_ns) {
            next_ns = job->kill_ns < next_ns ? job->kill_ns : next_ns;
            continue;
        }
        job->kill_ns = 0;
        (void)all->cfg.events->on_signal(all->cfg.arg, SIGKILL, &range, 1);
    }
    if (next_ns != UINT64_MAX)
        wait_for_kill(all, next_ns - now_ns);
}

/* --- beginning and end */

static void begin_waiting(struct ep_viewers *all)
{
    struct ep_viewer *next;

    for (struct ep_viewer *at = all->first; at != NULL; at = next) {
        char mem[JOB_DOOR_TEXT_MAX];
        const char *why = ep_viewer_begin(at, mem);

        next = at->next;
        if (why != NULL)
            cut(at, why);
    }
}

/* Clients that wait for a job stay connected. */
void ep_viewers_close(struct ep_viewers *all)
{
    const struct ep_client_cfg run = all->cfg;
    struct ep_viewer *next;

    all->cfg.events = NULL;
    free_event(&all->limit);
    free_event(&all->soon);
    free_event(&all->kills);
    ep_watchers_close(all->watchers, all->why);
    for (struct ep_viewer *at = all->first; at != NULL; at = next) {
        next = at->next;
        if (at->job != NULL)
            cut(at, all->why);
    }
    ep_viewers_escrows_close(all, &run);
    ep_seen_clear(&all->seen);
    all->have_pushers = false;
    all->why = NULL;
}

/* In a dvm, the run's own job is no job: its processes are the daemons, and
 * only clients that watch are told about them. */
int ep_viewers_open(struct ep_viewers *all, const struct ep_client_cfg *cfg)
{
    struct ep_seen_job own = {.size = cfg->size,
                              .apps = cfg->apps,
                              .parts = cfg->parts,
                              .cache_bytes = cfg->cache_bytes,
                              .wish.cache_bytes = JOB_CACHE_UNSAID,
                              .channels = cfg->is_dvm ? 0 : cfg->channels,
                              .forwards = cfg->is_dvm ? 0 : EP_SEEN_OUTPUT,
                              .name = (char *)(uintptr_t)cfg->nspace,
                              .is_daemons = cfg->is_dvm,
                              .is_started = true};

    all->cfg = *cfg;
    all->soon = event_new(cfg->base, -1, 0, on_soon, all);
    all->kills = evtimer_new(cfg->base, on_kills, all);
    if (!ep_viewers_escrows_open(all) || all->soon == NULL ||
        all->kills == NULL || !ep_viewers_job_add(all, &own) ||
        ep_watchers_open(all->watchers, cfg) != 0) {
        ep_viewers_close(all);
        return OV_ENOMEM;
    }
    begin_waiting(all);
    all->is_new = true;
    ep_viewers_soon(all);
    return 0;
}

static void on_watchers(void *arg)
{
    on_change(arg);
}

struct ep_viewers *ep_viewers_new(void)
{
    struct ep_viewers *all = calloc(1, sizeof(*all));
    struct ep_watchers_cfg watching = {.on_change = on_watchers, .arg = all};

    if (all == NULL)
        return NULL;
    watching.seen = &all->seen;
    all->pool.limit_bytes = POOL_BYTES;
    all->awaited.limit_bytes = UINT64_MAX / 2;
    all->watchers = ep_watchers_new(&watching);
    if (all->watchers == NULL) {
        free(all);
        return NULL;
    }
    all->on_change = on_change;
    all->on_ready = ep_viewer_ready;
    return all;
}

void ep_viewers_free(struct ep_viewers *all)
{
    if (all == NULL)
        return;
    ep_watchers_free(all->watchers);
    ep_viewers_left_close(all);
    free(all);
}

struct ep_watchers *ep_viewers_watchers(struct ep_viewers *all)
{
    return all->watchers;
}

void ep_viewers_anew(struct ep_viewers *all)
{
    all->why = "the session is being started again: attach again";
}
