/* The tap of a run: what it is told, and what becomes of its words. */
#include "endpoints/run/tap.h"

#include "endpoints/run/control.h"
#include "endpoints/run/held.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/log.h"
#include "endpoints/run/plan.h"

static uint32_t nodes_of(const struct ep_job_ranks *ranks)
{
    return ranks->nodes.last - ranks->nodes.first + 1;
}

static uint32_t count_parts(const struct ep_job *job)
{
    uint32_t count = 0;

    for (uint32_t app = 0; app < job->apps_count; app++) {
        for (uint32_t i = 0; i < job->apps[app].ranks_count; i++)
            count += nodes_of(&job->apps[app].ranks[i]);
    }
    return count;
}

static void fill_part(const struct run *r, uint32_t app,
                      const struct ep_job_ranks *ranks, uint32_t nth,
                      struct ep_tap_part *out)
{
    out->host = ep_run_host(r, ranks->nodes.first + nth);
    out->program = r->job.apps[app].argv.at[0];
    out->app = app;
    out->first_rank = ranks->first_rank + nth * ranks->each;
    out->ranks = ranks->each;
}

static void on_part(void *arg, uint32_t index, struct ep_tap_part *out)
{
    const struct run *r = arg;

    for (uint32_t app = 0; app < r->job.apps_count; app++) {
        const struct ep_job_app *of = &r->job.apps[app];

        for (uint32_t i = 0; i < of->ranks_count; i++) {
            if (index < nodes_of(&of->ranks[i])) {
                fill_part(r, app, &of->ranks[i], index, out);
                return;
            }
            index -= nodes_of(&of->ranks[i]);
        }
    }
}

static void on_released(void *arg, uint64_t cookie)
{
    ep_run_let_go(arg, cookie);
}

static void on_flushed(void *arg)
{
    struct run *r = arg;

    r->tap_is_flushed = true;
    r->on_tap_flushed(r);
}

static bool on_log(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes)
{
    return ep_run_log(arg, token, channel, text, len_bytes);
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    struct run *r = arg;

    if (r->phase != RUN_RUNNING)
        return false;
    ep_run_signal_some(r, signo, ranges, count);
    return true;
}

static void on_say(void *arg, const char *text)
{
    ep_run_say(arg, "%s", text);
}

static void on_note(void *arg, const char *text)
{
    ep_run_note(arg, "%s", text);
}

void ep_run_tap_open(struct run *r, void (*on_end)(struct run *r))
{
    static const struct ep_tap_events events = {
        .on_part = on_part,
        .on_released = on_released,
        .on_flushed = on_flushed,
        .on_log = on_log,
        .on_signal = on_signal,
        .on_say = on_say,
        .on_note = on_note,
    };
    struct ep_tap_cfg cfg = {
        .base = r->base,
        .nspace = r->nspace,
        .size = r->job.size,
        .apps = r->job.apps_count,
        .parts = count_parts(&r->job),
        .events = &events,
        .arg = r,
    };

    r->on_tap_flushed = on_end;
    if (r->options.tap != NULL)
        r->tap = r->options.tap->open(&cfg);
}

void ep_run_tap_close(struct run *r)
{
    if (r->tap != NULL)
        r->options.tap->close(r->tap);
    r->tap = NULL;
}

void ep_run_tap_output(struct run *r, const struct ep_tap_output *output,
                       struct ov_buf *buf)
{
    if (r->tap != NULL && r->options.tap->output(r->tap, output))
        ep_run_hold(r, output->cookie, buf);
}

void ep_run_tap_started(struct run *r, uint32_t rank, const uint32_t *pids,
                        uint32_t count)
{
    if (r->tap != NULL)
        r->options.tap->started(r->tap, rank, pids, count);
}

void ep_run_tap_exit(struct run *r, uint32_t rank, uint32_t status)
{
    if (r->tap != NULL)
        r->options.tap->exit(r->tap, rank, status);
}

void ep_run_tap_logged(struct run *r, uint32_t token)
{
    if (r->tap != NULL)
        r->options.tap->logged(r->tap, token);
}

bool ep_run_tap_flush(struct run *r)
{
    if (r->tap == NULL || r->tap_is_flushed)
        return true;
    r->tap_is_flushing = true;
    r->tap_is_flushed = !r->options.tap->flush(r->tap);
    return r->tap_is_flushed;
}

bool ep_run_tap_is_awaited(const struct run *r)
{
    return r->tap_is_flushing && !r->tap_is_flushed;
}
