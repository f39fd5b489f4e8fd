/* The tap of a run: what it is told, and what becomes of its words. */
#include "endpoints/run/tap.h"

#include "endpoints/client/door.h"
#include "endpoints/client/viewers.h"
#include "endpoints/run/again.h"
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

static struct run *run_of(void *tap)
{
    return ((struct run_tap *)tap)->run;
}

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    struct run *r = run_of(arg);
    const struct job *job = r->taps.events->on_find(r, base);

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
    struct run *r = run_of(arg);

    ep_run_let_go(r->held, cookie);
}

static void on_gone(void *arg, uint64_t cookie)
{
    struct run *r = run_of(arg);

    r->taps.events->on_gone(r, cookie);
}

static void on_returned(void *arg, uint64_t cookie)
{
    struct run *r = run_of(arg);

    r->taps.events->on_returned(r, cookie);
}

static unsigned index_of(const struct run_tap *tap)
{
    return (unsigned)(tap - tap->run->taps.at);
}

static bool on_back(void *arg, const struct job_record *output)
{
    struct run *r = run_of(arg);

    return r->taps.events->on_back(r, index_of(arg), output);
}

static void on_back_over(void *arg)
{
    struct run *r = run_of(arg);

    r->taps.events->on_back_over(r);
}

static void on_flushed(void *arg)
{
    struct run_tap *tap = arg;

    tap->is_flushed = true;
    tap->run->taps.events->on_end(tap->run);
}

/* Writers and texts of all taps have numbers of their own. */
static uint64_t number_of(const struct run_tap *tap, uint32_t number)
{
    return (uint64_t)index_of(tap) << 32 | number;
}

static const struct run_tap *tap_of(const struct run *r, uint64_t number)
{
    return &r->taps.at[number >> 32];
}

static void on_push(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes)
{
    struct run *r = run_of(arg);

    r->taps.events->on_push(r, base, number_of(arg, writer), mem, len_bytes);
}

static void on_left(void *arg, uint32_t base, uint32_t writer)
{
    struct run *r = run_of(arg);

    r->taps.events->on_left(r, base, number_of(arg, writer));
}

static void on_pushers(void *arg, bool are_there)
{
    struct run_tap *tap = arg;
    struct run *r = tap->run;
    bool any = false;

    tap->has_pushers = are_there;
    for (unsigned i = 0; i < RUN_TAPS; i++)
        any |= r->taps.at[i].has_pushers;
    r->taps.events->on_pushers(r, any);
}

static bool on_log(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes)
{
    struct run *r = run_of(arg);
    uint64_t number = token != 0 ? number_of(arg, token) : 0;
    struct job_record record = {.time_ns = ep_clock_unix_ns(),
                                .host = r->plan.host,
                                .channel = channel};

    if (r->output == NULL || r->session.state == JOB_SESSION_OVER ||
        !ep_run_logs_add(r->logs, number, text, len_bytes, &record))
        return false;
    if (ep_output_record(r->output, &record) < 0) {
        (void)ep_run_logs_taken(r->logs, record.cookie, &number);
        return false;
    }
    ep_watch_soon(r->watch);
    return true;
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    struct run *r = run_of(arg);

    if (!job_session_runs(&r->session))
        return false;
    ep_run_orders_signal(r->orders, signo, ranges, count);
    return true;
}

static void on_say(void *arg, const char *text)
{
    struct run *r = run_of(arg);

    ep_voice_say(&r->voice, "%s", text);
}

static void on_note(void *arg, const char *text)
{
    struct run *r = run_of(arg);

    ep_voice_note(&r->voice, "%s", text);
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    const struct run *r = run_of(arg);

    return job_session_runs(&r->session) ? ep_run_orders_replay(r->orders, want)
                                         : 0;
}

static bool on_wanted(void *arg)
{
    struct run *r = run_of(arg);

    return r->taps.events->on_wanted(r);
}

static void on_hold(void *arg, const struct topo_range *range, bool is_held)
{
    struct run *r = run_of(arg);

    r->taps.events->on_hold(r, range, is_held);
}

static bool on_spawn(void *arg, const struct ep_tap_spawn *spawn,
                     struct ep_tap_spawned *out, char *why)
{
    struct run *r = run_of(arg);

    return r->taps.events->on_spawn(r, spawn, out, why);
}

static void on_up(void *arg, const char *uri)
{
    struct run *r = run_of(arg);

    r->taps.events->on_up(r, uri);
}

static void on_given_up(void *arg, const char *why)
{
    struct run *r = run_of(arg);

    r->taps.events->on_given_up(r, why);
}

static void open_one(struct run_tap *tap, const struct ep_tap_ops *ops,
                     void *self)
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
        .on_left = on_left,
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
    const struct run *r = tap->run;
    const struct ep_tap_cfg cfg = {
        .base = r->base,
        .nspace = r->plan.nspace,
        .size = r->own.desc.size,
        .apps = r->own.desc.apps_count,
        .parts = ep_run_tap_parts(&r->own.desc),
        .channels = (uint8_t)job_channels(&r->own.desc),
        .cache_bytes = r->own.desc.cache_bytes,
        .push_bytes = ep_run_down_push_bytes(r->plan.sizes.frame_bytes),
        .is_dvm = r->options.is_dvm,
        .writer = r->writer,
        .self = self,
        .events = &events,
        .arg = tap,
    };

    tap->ops = ops;
    if (ops != NULL)
        tap->handle = ops->open(&cfg);
}

static void tell_alone(const struct run *r)
{
    ep_door_no_tools(r->plan.again->door,
                     r->options.tap == NULL
                         ? "the session was started with --no-pmix"
                         : "tools cannot connect to the session: it was built "
                           "without libpmix, or cannot use it (-v says why)");
}

bool ep_run_tap_open(struct run *r)
{
    struct run_tap *tools = &r->taps.at[0], *clients = &r->taps.at[1];

    tools->run = clients->run = r;
    open_one(tools, r->options.tap, NULL);
    open_one(clients, &ep_viewers_tap, ep_door_viewers(r->plan.again->door));
    for (uint32_t i = 0; i < r->own.desc.readers_count; i++)
        ep_run_tap_stdin(r, r->own.desc.readers[i].first,
                         r->own.desc.readers[i].last, true);
    if (tools->handle == NULL)
        tell_alone(r);
    return tools->handle != NULL;
}

/* Each of them that has something to do with this. */
#define EACH(r, tap, op)                                                       \
    for (const struct run_tap *tap = (r)->taps.at;                             \
         tap < (r)->taps.at + RUN_TAPS; tap++)                                 \
        if (tap->handle != NULL && tap->ops->op != NULL)

void ep_run_tap_close(struct run *r)
{
    if (r->plan.again->is_due)
        ep_viewers_anew(ep_door_viewers(r->plan.again->door));
    for (unsigned i = RUN_TAPS; i-- > 0;) {
        struct run_tap *tap = &r->taps.at[i];

        if (tap->handle != NULL)
            tap->ops->close(tap->handle);
        tap->handle = NULL;
    }
}

enum ep_tap_output ep_run_tap_output(struct run *r,
                                     const struct job_record *rec)
{
    enum ep_tap_output most = EP_TAP_PASSED;

    EACH(r, tap, output)
    {
        enum ep_tap_output did = tap->ops->output(tap->handle, rec);

        if (did == EP_TAP_HELD)
            ep_run_hold(r->held, rec->cookie);
        most = did > most ? did : most;
    }
    return most;
}

bool ep_run_tap_has_room(const struct run *r, const struct job_record *rec)
{
    EACH(r, tap, has_room)
    {
        if (!tap->ops->has_room(tap->handle, rec))
            return false;
    }
    return true;
}

bool ep_run_tap_wants(const struct run *r, uint32_t number, uint8_t channel)
{
    EACH(r, tap, output)
    {
        if (tap->ops->wants == NULL ||
            tap->ops->wants(tap->handle, number, channel))
            return true;
    }
    return false;
}

bool ep_run_tap_redirects(const struct run *r, uint32_t rank, uint8_t channel)
{
    EACH(r, tap, redirects)
    {
        if (tap->ops->redirects(tap->handle, rank, channel))
            return true;
    }
    return false;
}

bool ep_run_tap_gives_back(const struct run *r, uint32_t rank, uint8_t channel)
{
    EACH(r, tap, gives_back)
    {
        if (tap->ops->gives_back(tap->handle, rank, channel))
            return true;
    }
    return false;
}

void ep_run_tap_took_back(struct run *r, unsigned tap)
{
    if (r->taps.at[tap].handle != NULL)
        r->taps.at[tap].ops->took_back(r->taps.at[tap].handle);
}

void ep_run_tap_lost(struct run *r, uint32_t first, uint32_t count)
{
    EACH(r, tap, lost)
    tap->ops->lost(tap->handle, first, count);
}

bool ep_run_tap_replays(const struct run *r)
{
    EACH(r, tap, replays)
    {
        if (tap->ops->replays(tap->handle))
            return true;
    }
    return false;
}

void ep_run_tap_started(struct run *r, uint32_t rank, const uint32_t *pids,
                        uint32_t count)
{
    EACH(r, tap, started)
    tap->ops->started(tap->handle, rank, pids, count);
}

void ep_run_tap_exit(struct run *r, uint32_t rank, uint32_t status)
{
    EACH(r, tap, exit)
    tap->ops->exit(tap->handle, rank, status);
}

void ep_run_tap_logged(struct run *r, uint64_t token)
{
    const struct run_tap *tap = tap_of(r, token);

    if (tap->handle != NULL && tap->ops->logged != NULL)
        tap->ops->logged(tap->handle, (uint32_t)token);
}

void ep_run_tap_job(struct run *r, const struct ep_tap_job *job)
{
    EACH(r, tap, job)
    tap->ops->job(tap->handle, job);
}

void ep_run_tap_again(struct run *r)
{
    EACH(r, tap, again)
    tap->ops->again(tap->handle);
}

bool ep_run_tap_flush(struct run *r)
{
    bool are_flushed = true;

    for (unsigned i = 0; i < RUN_TAPS; i++) {
        struct run_tap *tap = &r->taps.at[i];

        if (tap->handle == NULL || tap->ops->flush == NULL || tap->is_flushed)
            continue;
        tap->is_flushing = true;
        tap->is_flushed = !tap->ops->flush(tap->handle);
        are_flushed &= tap->is_flushed;
    }
    return are_flushed;
}

bool ep_run_tap_is_awaited(const struct run *r)
{
    EACH(r, tap, flush)
    {
        if (tap->is_flushing && !tap->is_flushed)
            return true;
    }
    return false;
}

void ep_run_tap_stdin(struct run *r, uint32_t first, uint32_t last,
                      bool is_open)
{
    EACH(r, tap, has_stdin)
    tap->ops->has_stdin(tap->handle, first, last, is_open);
}

void ep_run_tap_behind(struct run *r, uint32_t number, bool is_behind)
{
    EACH(r, tap, behind)
    tap->ops->behind(tap->handle, number, is_behind);
}

void ep_run_tap_pushed(struct run *r, uint64_t writer)
{
    const struct run_tap *tap = tap_of(r, writer);

    if (tap->handle != NULL && tap->ops->pushed != NULL)
        tap->ops->pushed(tap->handle, (uint32_t)writer);
}
