/* The tap of a run: what it is told, and what becomes of its words. */
#include "endpoints/run/tap.h"

#include "endpoints/run/down.h"
#include "endpoints/run/held.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/log.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/panic.h"

static uint32_t nodes_of(const struct job_ranks *ranks)
{
    return ranks->nodes.last - ranks->nodes.first + 1;
}

uint32_t ep_run_tap_parts(const struct job *job)
{
    uint32_t count = 0;

    for (uint32_t app = 0; app < job->apps_count; app++) {
        for (uint32_t i = 0; i < job->apps[app].ranks_count; i++)
            count += nodes_of(&job->apps[app].ranks[i]);
    }
    return count;
}

static void fill_part(const struct run *r, const struct job *job, uint32_t app,
                      const struct job_ranks *ranks, uint32_t nth,
                      struct job_neighbours *out)
{
    out->host =
        ep_run_host(&r->plan, job_node_at(job, ranks->nodes.first + nth));
    out->program = job->apps[app].argv.at[0];
    out->app = app;
    out->first_rank = ranks->first_rank + nth * ranks->each;
    out->ranks = ranks->each;
}

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    struct run *r = arg;
    const struct job *job = r->tap.events->on_find(r, base);

    OV_ASSERT(job != NULL);
    for (uint32_t app = 0; app < job->apps_count; app++) {
        const struct job_app *of = &job->apps[app];

        for (uint32_t i = 0; i < of->ranks_count; i++) {
            if (index < nodes_of(&of->ranks[i])) {
                fill_part(r, job, app, &of->ranks[i], index, out);
                return;
            }
            index -= nodes_of(&of->ranks[i]);
        }
    }
}

static void on_released(void *arg, uint64_t cookie)
{
    struct run *r = arg;

    ep_run_let_go(r->held, cookie);
}

static void on_gone(void *arg, uint64_t cookie)
{
    struct run *r = arg;

    r->tap.events->on_gone(r, cookie);
}

static void on_returned(void *arg, uint64_t cookie)
{
    struct run *r = arg;

    r->tap.events->on_returned(r, cookie);
}

static bool on_back(void *arg, const struct job_record *output)
{
    struct run *r = arg;

    return r->tap.events->on_back(r, output);
}

static void on_back_over(void *arg)
{
    struct run *r = arg;

    r->tap.events->on_back_over(r);
}

static void on_flushed(void *arg)
{
    struct run *r = arg;

    r->tap.is_flushed = true;
    r->tap.events->on_end(r);
}

static void on_push(void *arg, uint32_t base, const uint8_t *mem,
                    uint32_t len_bytes)
{
    struct run *r = arg;

    r->tap.events->on_push(r, base, mem, len_bytes);
}

static void on_pushers(void *arg, bool are_there)
{
    struct run *r = arg;

    r->tap.events->on_pushers(r, are_there);
}

static bool on_log(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes)
{
    struct run *r = arg;
    struct job_record record = {.time_ns = ep_clock_unix_ns(),
                                .host = r->plan.host,
                                .channel = channel};

    if (r->output == NULL || r->session.state == JOB_SESSION_OVER ||
        !ep_run_logs_add(r->logs, token, text, len_bytes, &record))
        return false;
    if (ep_output_record(r->output, &record) < 0) {
        (void)ep_run_logs_taken(r->logs, record.cookie, &token);
        return false;
    }
    ep_watch_soon(r->watch);
    return true;
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    struct run *r = arg;

    if (!job_session_runs(&r->session))
        return false;
    ep_run_orders_signal(r->orders, signo, ranges, count);
    return true;
}

static void on_say(void *arg, const char *text)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "%s", text);
}

static void on_note(void *arg, const char *text)
{
    struct run *r = arg;

    ep_voice_note(&r->voice, "%s", text);
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    const struct run *r = arg;

    return job_session_runs(&r->session) ? ep_run_orders_replay(r->orders, want)
                                         : 0;
}

static bool on_wanted(void *arg)
{
    struct run *r = arg;

    return r->tap.events->on_wanted(r);
}

static void on_hold(void *arg, const struct topo_range *range, bool is_held)
{
    struct run *r = arg;

    r->tap.events->on_hold(r, range, is_held);
}

static bool on_spawn(void *arg, const struct ep_tap_spawn *spawn,
                     struct ep_tap_spawned *out, char *why)
{
    struct run *r = arg;

    return r->tap.events->on_spawn(r, spawn, out, why);
}

static void on_up(void *arg, const char *uri)
{
    struct run *r = arg;

    r->tap.events->on_up(r, uri);
}

static void on_given_up(void *arg, const char *why)
{
    struct run *r = arg;

    r->tap.events->on_given_up(r, why);
}

void ep_run_tap_open(struct run *r)
{
    static const struct ep_tap_events events = {
        .on_part = on_part,
        .on_released = on_released,
        .on_gone = on_gone,
        .on_returned = on_returned,
        .on_back = on_back,
        .on_back_over = on_back_over,
        .on_flushed = on_flushed,
        .on_log = on_log,
        .on_signal = on_signal,
        .on_push = on_push,
        .on_pushers = on_pushers,
        .on_replay = on_replay,
        .on_wanted = on_wanted,
        .on_hold = on_hold,
        .on_spawn = on_spawn,
        .on_up = on_up,
        .on_given_up = on_given_up,
        .on_say = on_say,
        .on_note = on_note,
    };
    struct ep_tap_cfg cfg = {
        .base = r->base,
        .nspace = r->plan.nspace,
        .size = r->own.desc.size,
        .apps = r->own.desc.apps_count,
        .parts = ep_run_tap_parts(&r->own.desc),
        .cache_bytes = r->own.desc.cache_bytes,
        .push_bytes = ep_run_down_push_bytes(r->plan.sizes.frame_bytes),
        .is_dvm = r->options.is_dvm,
        .events = &events,
        .arg = r,
    };

    if (r->options.tap != NULL)
        r->tap.handle = r->options.tap->open(&cfg);
    for (uint32_t i = 0; i < r->own.desc.readers_count; i++)
        ep_run_tap_stdin(r, r->own.desc.readers[i].first,
                         r->own.desc.readers[i].last, true);
}

void ep_run_tap_close(struct run *r)
{
    if (r->tap.handle != NULL)
        r->options.tap->close(r->tap.handle);
    r->tap.handle = NULL;
}

bool ep_run_tap_output(struct run *r, const struct job_record *rec)
{
    if (r->tap.handle == NULL || !r->options.tap->output(r->tap.handle, rec))
        return false;
    ep_run_hold(r->held, rec->cookie);
    return true;
}

bool ep_run_tap_wants(const struct run *r, uint32_t number, uint8_t channel)
{
    return r->tap.handle != NULL &&
           (r->options.tap->wants == NULL ||
            r->options.tap->wants(r->tap.handle, number, channel));
}

bool ep_run_tap_redirects(const struct run *r, uint32_t rank, uint8_t channel)
{
    return r->tap.handle != NULL && r->options.tap->redirects != NULL &&
           r->options.tap->redirects(r->tap.handle, rank, channel);
}

bool ep_run_tap_gives_back(const struct run *r, uint32_t rank, uint8_t channel)
{
    return r->tap.handle != NULL && r->options.tap->gives_back != NULL &&
           r->options.tap->gives_back(r->tap.handle, rank, channel);
}

void ep_run_tap_took_back(struct run *r)
{
    if (r->tap.handle != NULL)
        r->options.tap->took_back(r->tap.handle);
}

void ep_run_tap_lost(struct run *r, uint32_t first, uint32_t count)
{
    if (r->tap.handle != NULL && r->options.tap->lost != NULL)
        r->options.tap->lost(r->tap.handle, first, count);
}

bool ep_run_tap_replays(const struct run *r)
{
    return r->tap.handle != NULL && r->options.tap->replays != NULL &&
           r->options.tap->replays(r->tap.handle);
}

void ep_run_tap_started(struct run *r, uint32_t rank, const uint32_t *pids,
                        uint32_t count)
{
    if (r->tap.handle != NULL)
        r->options.tap->started(r->tap.handle, rank, pids, count);
}

void ep_run_tap_exit(struct run *r, uint32_t rank, uint32_t status)
{
    if (r->tap.handle != NULL)
        r->options.tap->exit(r->tap.handle, rank, status);
}

void ep_run_tap_logged(struct run *r, uint32_t token)
{
    if (r->tap.handle != NULL)
        r->options.tap->logged(r->tap.handle, token);
}

void ep_run_tap_job(struct run *r, const struct ep_tap_job *job)
{
    if (r->tap.handle != NULL && r->options.tap->job != NULL)
        r->options.tap->job(r->tap.handle, job);
}

void ep_run_tap_again(struct run *r)
{
    if (r->tap.handle != NULL && r->options.tap->again != NULL)
        r->options.tap->again(r->tap.handle);
}

bool ep_run_tap_flush(struct run *r)
{
    if (r->tap.handle == NULL || r->tap.is_flushed)
        return true;
    r->tap.is_flushing = true;
    r->tap.is_flushed = !r->options.tap->flush(r->tap.handle);
    return r->tap.is_flushed;
}

bool ep_run_tap_is_awaited(const struct run *r)
{
    return r->tap.is_flushing && !r->tap.is_flushed;
}

void ep_run_tap_stdin(struct run *r, uint32_t first, uint32_t last,
                      bool is_open)
{
    if (r->tap.handle != NULL)
        r->options.tap->has_stdin(r->tap.handle, first, last, is_open);
}

void ep_run_tap_behind(struct run *r, uint32_t number, bool is_behind)
{
    if (r->tap.handle != NULL)
        r->options.tap->behind(r->tap.handle, number, is_behind);
}

void ep_run_tap_pushed(struct run *r, uint32_t base)
{
    if (r->tap.handle != NULL)
        r->options.tap->pushed(r->tap.handle, base);
}
