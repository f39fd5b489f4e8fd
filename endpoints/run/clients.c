/* Does what clients of the door, and the desk of PMIx tools, ask of a run. */
#include "endpoints/run/clients.h"

#include "endpoints/client/desk.h"
#include "endpoints/client/door.h"
#include "endpoints/client/viewers.h"
#include "endpoints/run/relaunch.h"
#include "endpoints/run/down.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/groups.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/log.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/redirect.h"
#include "endpoints/run/subscription.h"
#include "endpoints/sys/clock.h"
#include "overlay/wire/push.h"

/* --- what clients ask for */

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    ep_run_jobs_part(arg, base, index, out);
}

static bool on_back(void *arg, const struct job_record *output)
{
    return ep_run_redirect_back(arg, output);
}

static void on_back_over(void *arg)
{
    ep_run_redirect_back_over(arg);
}

static void on_flushed(void *arg)
{
    struct run *r = arg;

    r->clients.is_flushed = true;
    ep_run_check_done(r);
}

static void on_push(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes)
{
    struct run *r = arg;
    struct run_job *job = ep_run_job_of(r, base);
    struct ov_push push;

    if (job != NULL && ov_push_decode(mem, len_bytes, &push) == 0)
        job->pushed_bytes += push.len_bytes;
    ep_run_down_push(r->down, base, writer, mem, len_bytes);
}

static void on_flow(void *arg, uint32_t base, struct ep_client_flow *out)
{
    struct run *r = arg;
    const struct run_job *job = ep_run_job_of(r, base);

    if (job == NULL)
        return;
    out->output_bytes = job->output_bytes;
    out->quiet_ns =
        job->output_ns != 0 ? ep_clock_ns() - job->output_ns : UINT64_MAX;
    out->stdin_bytes = job->pushed_bytes;
    if (!ep_run_job_is_own(job))
        return;
    out->stdin_bytes += ep_run_down_sent(r->down);
    out->waiting_bytes = ep_run_down_waiting(r->down);
}

/* Appends the last line of the latest output. */
static void add_last(const struct run_last_output *last, struct text_buf *text)
{
    uint32_t end = last->len_bytes, begin;

    while (end > 0 && last->text[end - 1] == '\n')
        end--;
    begin = end;
    while (begin > 0 && last->text[begin - 1] != '\n')
        begin--;
    if (begin == end)
        return;
    text_buf_printf(text, "last output: rank %u: ", last->rank);
    for (uint32_t i = begin; i < end; i++)
        text_buf_add(text, last->text[i] != '\0' ? &last->text[i] : "?", 1);
    text_buf_add(text, "\n", 1);
}

static bool on_groups(void *arg, uint32_t base, struct text_buf *text)
{
    struct run *r = arg;
    struct run_job *job = ep_run_job_of(r, base);
    const uint64_t now_ns = ep_clock_ns();
    bool is_known;

    if (job == NULL)
        return true;
    ep_run_look_ask(&job->look, &job->life, r->orders, now_ns);
    is_known = ep_run_look_is_over(&job->look, now_ns);
    ep_run_groups(&r->plan, &job->life, is_known ? job->look.doing : NULL,
                  text);
    add_last(&job->last_output, text);
    return is_known;
}

static void on_left(void *arg, uint32_t base, uint32_t writer)
{
    ep_run_down_left(((struct run *)arg)->down, base, writer);
}

static void on_pushers(void *arg, bool are_there)
{
    ep_run_down_pushers(((struct run *)arg)->down, are_there);
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

/* Notes that a signal goes to a further job as a whole. */
static void note_signal(struct run *r, int signo,
                        const struct topo_range *range)
{
    struct run_job *job = ep_run_job_of(r, range->first);

    if (job != NULL && !ep_run_job_is_own(job) &&
        range->first == job->desc.base &&
        range->last - range->first == job->desc.size - 1)
        job_life_signalled(&job->life, signo);
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    struct run *r = arg;

    if (!job_session_runs(&r->session))
        return false;
    for (uint32_t i = 0; i < count; i++)
        note_signal(r, signo, &ranges[i]);
    ep_run_orders_signal(r->orders, signo, ranges, count);
    return true;
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    const struct run *r = arg;

    return job_session_runs(&r->session) ? ep_run_orders_replay(r->orders, want)
                                         : 0;
}

static bool on_wanted(void *arg)
{
    return ep_run_jobs_wanted(arg);
}

static void on_hold(void *arg, const struct topo_range *range, bool is_held)
{
    ep_run_subscription_hold(arg, range, is_held);
}

static bool on_spawn(void *arg, const struct ep_client_spawn *spawn,
                     struct ep_client_spawned *out, char *why)
{
    return ep_run_spawn(arg, spawn, out, why);
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

static void open_viewers(struct run *r)
{
    static const struct ep_client_events events = {
        .on_part = on_part,
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
        .on_flow = on_flow,
        .on_groups = on_groups,
        .on_say = on_say,
        .on_note = on_note,
    };
    const struct ep_client_cfg cfg = {
        .base = r->base,
        .nspace = r->plan.nspace,
        .size = r->own.desc.size,
        .apps = r->own.desc.apps_count,
        .parts = ep_run_jobs_parts(&r->own.desc),
        .channels = (uint8_t)job_channels(&r->own.desc),
        .cache_bytes = r->own.desc.cache_bytes,
        .push_bytes = ep_run_down_push_bytes(r->plan.sizes.frame_bytes),
        .is_dvm = r->options.is_dvm,
        .writer = r->writer,
        .events = &events,
        .arg = r,
    };
    struct ep_viewers *viewers = ep_door_viewers(r->plan.relaunch->door);

    if (viewers == NULL || ep_viewers_open(viewers, &cfg) != 0)
        return;
    r->clients.viewers = viewers;
    for (uint32_t i = 0; i < r->own.desc.readers_count; i++)
        ep_viewers_has_stdin(viewers, r->own.desc.readers[i].first,
                             r->own.desc.readers[i].last, true);
}

/* --- what the desk reports */

static void on_up(void *arg, const char *uri)
{
    struct run *r = arg;

    ep_door_tools(r->plan.relaunch->door, uri);
    if (uri != NULL)
        ep_run_dvm_up(r, uri);
}

static void on_given_up(void *arg, const char *why)
{
    ep_run_dvm_give_up(arg, why);
}

static void open_desk(struct run *r)
{
    static const struct ep_desk_events events = {
        .on_up = on_up,
        .on_given_up = on_given_up,
        .on_say = on_say,
        .on_note = on_note,
    };
    const struct ep_desk_cfg cfg = {
        .base = r->base,
        .nspace = r->plan.nspace,
        .is_dvm = r->options.is_dvm,
        .events = &events,
        .arg = r,
    };
    const struct ep_desk_ops *desk = r->options.desk;

    if (desk != NULL)
        r->clients.desk = desk->open(&cfg);
    if (r->clients.desk != NULL)
        return;
    ep_door_no_tools(r->plan.relaunch->door,
                     desk == NULL
                         ? "the session was started with --no-pmix"
                         : "tools cannot connect to the session: it was built "
                           "without libpmix, or cannot use it (-v says why)");
    ep_run_dvm_alone(r);
}

/* --- opening and closing both */

void ep_run_clients_open(struct run *r)
{
    open_viewers(r);
    open_desk(r);
}

void ep_run_clients_close(struct run *r)
{
    struct ep_viewers *viewers = r->clients.viewers;

    if (viewers != NULL && r->plan.relaunch->is_due)
        ep_viewers_anew(viewers);
    if (viewers != NULL)
        ep_viewers_close(viewers);
    r->clients.viewers = NULL;
    if (r->clients.desk != NULL)
        r->options.desk->close(r->clients.desk);
    r->clients.desk = NULL;
}
