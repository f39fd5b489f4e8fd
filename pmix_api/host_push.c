/* Who has a stdin, and what tools push to it: it waits here until it goes on
 * its way, whatever becomes of the helper meanwhile. */
#include <stdio.h>
#include <sys/socket.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/wire/push.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/push_part.h"

enum {
    TURN_PUSHES = 64, /* handed on in a turn of the loop */
    /* Memory for what waits for a job: of the first jobs that need some, */
    NEAR_BYTES = 1 << 20,
    NEAR_ALL_BYTES = 2 << 20,
    NEAR_LEAST_BYTES = 32 << 10, /* and of those beyond that. */
    SPARE_ALL_BYTES = 4 << 20,
};

/* Of all processes with these numbers that there are. */
static void set_bits(struct px_host *host, struct topo_range range, uint8_t set,
                     uint8_t clear)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        uint32_t first = range.first > job->base ? range.first - job->base : 0;

        for (uint32_t rank = first;
             rank < job->size && job->base + rank <= range.last; rank++) {
            job->in.state[rank] &= (uint8_t)~clear;
            job->in.state[rank] |= set;
        }
    }
}

static void end_input(uint8_t *state)
{
    *state &= (uint8_t)~PX_STDIN_OPEN;
    *state |= PX_STDIN_ENDED;
}

/* A helper that is started again must know whose stdin a tool has closed. */
static void note_closed(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        for (uint32_t rank = 0; rank < job->size; rank++) {
            if (job->in.state[rank] & PX_STDIN_NAMED)
                end_input(&job->in.state[rank]);
        }
    }
}

static void note_sets(struct px_host *host, struct ov_push *push)
{
    if ((push->flags & OV_PUSH_NEW) != 0)
        set_bits(host, (struct topo_range){0, UINT32_MAX}, 0, PX_STDIN_NAMED);
    for (unsigned i = 0; i < push->ranges; i++)
        set_bits(host, ov_push_range(push), PX_STDIN_NAMED, 0);
    if ((push->flags & OV_PUSH_CLOSE) != 0)
        note_closed(host);
}

/* --- what waits here */

/* The helper is not to wait for us when it sends. Both ends have as much room;
 * the half of it that is told is for what the kernel adds. */
static uint32_t window_of(const struct px_host *host)
{
    int bytes = 0;
    socklen_t size = sizeof(bytes);

    if (getsockopt(host->fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) != 0 ||
        bytes / 2 < PX_PUSH_WINDOW_MIN)
        return PX_PUSH_WINDOW_MIN;
    return bytes / 2 < PX_PUSH_WINDOW_BYTES ? (uint32_t)bytes / 2
                                            : PX_PUSH_WINDOW_BYTES;
}

/* Says whether much lies in memory because no file takes it. */
static bool is_much_spare(const struct px_host *host)
{
    uint64_t spare_bytes = 0;

    for (const struct px_host_job *job = host->jobs; job != NULL;
         job = job->next)
        spare_bytes += job->in.pushes.spare_bytes;
    return spare_bytes > SPARE_ALL_BYTES;
}

/* Grants what was used, in time and not in crumbs. */
static void grant(struct px_host *host)
{
    uint32_t due = host->push.window_bytes - host->push.granted_bytes;
    bool is_due = due >= host->push.window_bytes / 4 && !is_much_spare(host);

    host->push.grants_due = is_due ? due : 0;
    if (host->push.grants_due > 0)
        px_queue_soon(host);
}

/* Has the helper told when a job has no room for more, or has again. */
static void look_if_full(struct px_host *host, struct px_host_job *job)
{
    if (px_pushes_are_full(&job->in.pushes) != job->in.full_told)
        px_queue_soon(host);
}

static void say_lost(struct px_host *host, struct px_pushes *pushes)
{
    char text[128];

    if (pushes->lost_bytes == 0)
        return;
    snprintf(text, sizeof(text),
             "%llu bytes that tools have pushed cannot be read from their file "
             "again: they are lost",
             (unsigned long long)pushes->lost_bytes);
    pushes->lost_bytes = 0;
    host->cfg.events->on_say(host->cfg.arg, text);
}

/* The last pusher to the run's own job is left when all that it had is on its
 * way. */
static void settle(struct px_host *host)
{
    if (!host->push.is_rest_due || !px_pushes_are_none(&host->jobs->in.pushes))
        return;
    host->push.is_rest_due = false;
    host->cfg.events->on_pushers(host->cfg.arg, false);
}

/* --- to the streams */

static bool hand_on_one(struct px_host *host, struct px_host_job *job)
{
    uint32_t *held = &host->push.held[job_stream_of(job->base)];
    uint8_t mem[PX_PUSH_BYTES_MAX];
    uint32_t len_bytes;

    if (job->in.behind > 0 || *held >= PX_PUSHES_MAX)
        return false;
    len_bytes = px_pushes_get(&job->in.pushes, mem, host->cfg.push_bytes);
    if (len_bytes == 0)
        return false;
    if (job->base > 0)
        host->push.last = job->base;
    ++*held;
    host->cfg.events->on_push(host->cfg.arg, job->base, job->base, mem,
                              len_bytes);
    return true;
}

/* Hands on one push of each job, beginning behind the job that had the last
 * turn. Returns how many they were. */
static unsigned hand_on_round(struct px_host *host)
{
    struct px_host_job *job = px_job_of(host, host->push.last);
    const struct px_host_job *last = job;
    unsigned count = 0;

    do {
        job = job != NULL && job->next != NULL ? job->next : host->jobs;
        count += hand_on_one(host, job);
    } while (job != last && (last != NULL || job->next != NULL));
    return count;
}

/* Gives back what a job needs no longer; one that is over needs nothing. */
static void tidy(struct px_host *host, struct px_host_job *job)
{
    say_lost(host, &job->in.pushes);
    if (job->is_over)
        px_pushes_close(&job->in.pushes);
    else if (job->base > 0)
        px_pushes_rest(&job->in.pushes);
    look_if_full(host, job);
}

/* Where nobody takes it any more it goes at once: some, and then others have
 * their turn. */
static void hand_on(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct px_host *host = arg;
    unsigned count = 0, more;

    (void)fd;
    (void)what;
    host->push.is_handing_on = true;
    do {
        more = hand_on_round(host);
        count += more;
    } while (more > 0 && count < TURN_PUSHES);
    host->push.is_handing_on = false;
    if (host->phase == PX_HOST_DOWN)
        px_jobs_reap(host);
    if (more > 0)
        event_add(host->push.turn, &at_once);
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next)
        tidy(host, job);
    grant(host);
    settle(host);
}

static void hand_on_soon(struct px_host *host)
{
    if (!host->push.is_handing_on)
        event_active(host->push.turn, EV_TIMEOUT, 0);
}

int px_push_open(struct px_host *host)
{
    host->push.turn = evtimer_new(host->cfg.base, hand_on, host);
    return host->push.turn != NULL ? 0 : OV_ENOMEM;
}

void px_push_close(struct px_host *host)
{
    if (host->push.turn != NULL)
        event_free(host->push.turn);
}

void px_push_over(struct px_host *host, struct px_host_job *job)
{
    host->cfg.events->on_left(host->cfg.arg, job->base, job->base);
    tidy(host, job);
    grant(host);
}

void px_push_begin(struct px_host *host)
{
    host->push.granted_bytes = 0;
    host->push.next = 0;
    host->push.window_bytes = window_of(host);
    host->push.is_held_due = false;
    grant(host);
}

/* --- words */

/* The first jobs that need memory get much. Where there are many, little is
 * enough for each, as its file has the rest. O(jobs). */
static uint32_t near_bytes(const struct px_host *host)
{
    uint64_t used_bytes = 0;

    for (const struct px_host_job *job = host->jobs; job != NULL;
         job = job->next)
        used_bytes += job->in.pushes.spool.near.cap_bytes;
    return used_bytes < NEAR_ALL_BYTES ? NEAR_BYTES : NEAR_LEAST_BYTES;
}

/* Keeps the part of each job by itself, so that none waits for another. */
static void keep_parts(struct px_host *host, const struct px_push *heard,
                       struct ov_push push)
{
    uint8_t mem[PX_PUSH_BYTES_MAX];
    struct px_pushes_cfg cfg = {.dir = px_folder_top()};

    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        struct topo_range processes = {job->base, job->base + job->size - 1};
        uint32_t len_bytes =
            px_push_part(heard->mem, push, processes, &job->in.has_set, mem);

        if (len_bytes == 0 || job->is_over)
            continue;
        if (!job->in.pushes.is_open)
            cfg.near_bytes = near_bytes(host);
        px_pushes_put(&job->in.pushes, mem, len_bytes, &cfg);
        look_if_full(host, job);
    }
}

/* Says whether the set ascends over all the messages that name it. */
static bool is_in_order(struct px_host *host, struct ov_push push)
{
    uint64_t next = (push.flags & OV_PUSH_NEW) != 0 ? 0 : host->push.next;

    if (push.ranges > 0 && (push.flags & OV_PUSH_NEW) == 0 && next == 0)
        return false;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        if (range.first < next)
            return false;
        next = (uint64_t)range.last + 1;
    }
    host->push.next = (push.flags & OV_PUSH_MORE) != 0 ? next : 0;
    return true;
}

int px_push_heard(struct px_host *host, const struct px_push *heard)
{
    uint32_t cost_bytes = px_push_cost(heard->len_bytes);
    struct ov_push push;

    if (ov_push_decode(heard->mem, heard->len_bytes, &push) ||
        heard->len_bytes > host->cfg.push_bytes ||
        cost_bytes > host->push.granted_bytes || !is_in_order(host, push))
        return OV_EPROTO;
    host->push.granted_bytes -= cost_bytes;
    keep_parts(host, heard, push);
    note_sets(host, &push);
    grant(host);
    hand_on_soon(host);
    return 0;
}

void px_push_hold(struct px_host *host, bool are_there)
{
    host->push.is_held_due = are_there;
    host->push.is_rest_due = !are_there;
    if (are_there)
        host->cfg.events->on_pushers(host->cfg.arg, true);
    settle(host);
    px_queue_soon(host);
}

void px_host_pushed(struct px_host *host, uint32_t base)
{
    uint32_t *held = &host->push.held[job_stream_of(base)];

    OV_ASSERT(*held > 0);
    --*held;
    hand_on_soon(host);
}

void px_host_behind(struct px_host *host, uint32_t number, bool is_behind)
{
    struct px_host_job *job = px_job_of(host, number);
    uint8_t *state;

    if (job == NULL)
        return;
    if (is_behind && job->status[number - job->base] >= 0)
        return; /* word of a node that was given up meanwhile */
    state = &job->in.state[number - job->base];
    if (((*state & PX_STDIN_BEHIND) != 0) == is_behind)
        return;
    *state ^= PX_STDIN_BEHIND;
    if (is_behind)
        job->in.behind++;
    else
        job->in.behind--;
    if (job->in.behind == 0)
        hand_on_soon(host);
}

void px_host_stdin(struct px_host *host, uint32_t first, uint32_t last,
                   bool is_open)
{
    struct px_host_job *job = px_job_of(host, first);

    if (job == NULL)
        return;
    for (uint32_t rank = first - job->base;
         rank < job->size && job->base + rank <= last; rank++) {
        uint8_t *state = &job->in.state[rank];

        if (!is_open)
            end_input(state);
        else if ((*state & PX_STDIN_ENDED) == 0)
            *state |= PX_STDIN_OPEN;
    }
    if (job->in.told > first - job->base)
        job->in.told = first - job->base;
    px_queue_wake(host);
}
