/* Handles what comes up the tree: records of output, which redirect.c sends on,
 * and messages of the nodes, which words.c handles. */
#include "endpoints/run/up.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/client/viewers.h"
#include "endpoints/run/down.h"
#include "endpoints/run/records.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/left_out.h"
#include "endpoints/run/log.h"
#include "endpoints/run/loss.h"
#include "endpoints/run/own.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/beside.h"
#include "endpoints/run/readers.h"
#include "endpoints/run/stalls.h"
#include "endpoints/run/recent.h"
#include "endpoints/run/redirect.h"
#include "endpoints/run/screen.h"
#include "endpoints/run/style.h"
#include "endpoints/run/words.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/fds.h"
#include "overlay/base/err.h"

/* --- records */

static void give_back(void *arg, uint32_t cookie, struct ov_buf *buf)
{
    struct run *r = arg;

    ep_hub_put(r->hub, buf);
    ep_hub_taken(r->hub, cookie);
}

static void on_record(void *arg, const struct ov_act *act,
                      const struct ov_slice *slice)
{
    struct run *r = arg;
    const struct ov_record *rec = &act->rec;
    struct job_record out = {
        .proc = rec->rank,
        .rank = rec->rank,
        .host = ep_run_host(&r->plan, rec->source),
        .time_ns = r->options.style.has_time ? ep_clock_unix_ns() : 0,
        .channel = rec->channel,
        .ticket = rec->job,
        .is_end = (rec->flags & OV_RECORD_EOF) != 0,
        .mem = slice->len_bytes > 0 ? slice->buf->mem + slice->off_bytes : NULL,
        .len_bytes = slice->len_bytes,
        .cookie = act->cookie,
    };

    if (rec->channel == OV_CHANNEL_STATE) {
        ep_run_words(r, rec->source, slice);
        give_back(r, act->cookie, slice->buf);
        return;
    }
    ep_run_hold_new(r->records, act->cookie, slice->buf);
    if (out.ticket != 0) {
        ep_run_redirect_replay(r, &out);
        return;
    }
    if (rec->rank >= r->own.desc.size) {
        ep_run_jobs_output(r, &out);
        ep_run_let_go(r->records, act->cookie);
        return;
    }
    ep_watch_soon(r->watch);
    r->counts.output_bytes[rec->channel] += slice->len_bytes;
    ep_run_job_wrote(&r->own, &out);
    ep_recent_add(r->told.recent, rec->rank, out.mem, out.len_bytes);
    ep_run_redirect_record(r, &out);
}

/* --- the console and files */

static void on_written(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes)
{
    struct run *r = arg;
    const unsigned nth = ep_output_nth(r->output, place);

    if (ep_run_redirect_written(r, nth, proc, channel))
        ep_proof_written(r->own.proof, nth, proc, channel, mem, len_bytes);
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct run *r = arg;
    uint32_t token;

    if (ep_run_redirect_taken(r, cookie))
        return;
    if (!ep_run_logs_taken(r->logs, cookie, &token))
        ep_run_let_go(r->records, cookie);
    else if (token != 0)
        ep_viewers_logged(r->clients.viewers, token);
}

/* Ends the job. No message is given when the reader of stdout has closed it, as
 * a pipe does when its reader has read enough. */
static void on_output_error(void *arg, uint8_t channel, int err,
                            const char *why)
{
    struct run *r = arg;

    if (err == EPIPE && channel == OV_CHANNEL_STDOUT) {
        r->end.is_quiet = true;
        ep_run_abort(r, 128 + SIGPIPE);
        return;
    }
    ep_voice_say(&r->voice, "%s; the job ends", why);
    ep_run_abort(r, 1);
}

static void on_drained(void *arg)
{
    ep_run_check_done(arg);
}

static void on_console_note(void *arg, const char *text)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "%s", text);
}

/* Writes messages that wait, as the console writes nothing to stderr at the
 * moment. */
static void on_pause(void *arg)
{
    struct run *r = arg;

    ep_voice_retry(&r->voice, 0);
    if (ep_voice_waits(&r->voice))
        ep_watch_anew(r->end.words);
}

/* Returns the number of a rank's node, as the process finds it in
 * XYLEM_NODE. */
static uint32_t node_of(const void *arg, uint32_t rank)
{
    const struct job *job = arg;

    return job_place(job, job_node_of(job, rank, NULL)) - 1;
}

static const char *host_of(const void *arg, uint32_t rank)
{
    return ep_run_host_of_rank(arg, rank);
}

static struct ep_output_cfg output_cfg(struct run *r)
{
    static const struct ep_output_events events = {
        .on_written = on_written,
        .on_taken = on_taken,
        .on_error = on_output_error,
        .on_drained = on_drained,
        .on_note = on_console_note,
        .on_pause = on_pause,
    };
    struct ep_output_cfg cfg;

    ep_run_output_cfg(&r->options, r->plan.nspace, &cfg);
    ep_run_style_fit(&cfg.console.style, r->own.desc.size, host_of, &r->plan);
    if (r->options.by_rank)
        cfg.turns = r->own.desc.size;
    if (r->options.fold != EP_FOLD_NONE)
        cfg.folds = r->own.desc.size;
    cfg.turn_channels = (uint8_t)job_channels(&r->own.desc);
    cfg.names.node_of = node_of;
    cfg.names.arg = &r->own.desc;
    cfg.console.base = r->base;
    cfg.console.writer = r->writer;
    cfg.console.is_prompting = r->own.desc.open_ms > 0;
    /* The bar of a process that is alone is in its place as it comes. */
    if (r->own.desc.size > 1 || r->options.is_dvm ||
        !text_style_is_plain(&cfg.console.style))
        cfg.console.bar_channels = ep_run_screen();
    cfg.events = &events;
    cfg.arg = r;
    /* Less than what one link may have in flight, so that there is always room
     * for the next piece of a long line. */
    cfg.console.park_limit_bytes =
        (uint64_t)r->plan.sizes.frame_bytes * r->plan.sizes.up_frames / 2;
    cfg.console.round_bytes =
        (uint64_t)r->plan.sizes.frame_bytes * (r->plan.nodes_count + 1);
    return cfg;
}

static void say_stalled(void *arg, const char *words)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "%s", words);
}

static void on_stalled(void *arg, const bool *are_told)
{
    struct run *r = arg;

    if (r->told.beside != NULL)
        ep_run_beside(r->told.beside, are_told, r->own.desc.size);
}

static int open_stalls(struct run *r)
{
    static const struct run_stalls_events events = {.say = say_stalled,
                                                    .on_told = on_stalled};
    const struct run_beside_cfg beside = {.base = r->base,
                                          .voice = &r->voice,
                                          .pid = getpid(),
                                          .command = r->options.stall_command};
    const struct run_stalls_cfg cfg = {.plan = &r->plan,
                                       .life = &r->own.life,
                                       .base = r->base,
                                       .events = &events,
                                       .arg = r};

    if (beside.command != NULL &&
        ep_run_beside_open(&beside, &r->told.beside) != 0)
        return OV_ENOMEM;
    return ep_run_stalls_open(&cfg, &r->own.stalls);
}

static int open_left(struct run *r)
{
    const struct job_filter *filter = &r->own.desc.filter;

    return filter->keeps_last || job_filter_has_rules(filter)
               ? ep_left_open(r->own.desc.size, &r->own.left)
               : 0;
}

int ep_run_output_open(struct run *r)
{
    struct ep_output_cfg cfg;
    bool is_files;
    int rc;

    if (ep_run_records_open(give_back, r, &r->records) ||
        ep_run_logs_open(&r->logs) || ep_writer_open(r->base, &r->writer) ||
        ep_run_redirect_open(r) || ep_recent_open(&r->told.recent) ||
        ep_run_readers_open(&r->plan, &r->own.life, r->base,
                            &r->told.readers) ||
        open_stalls(r) || open_left(r))
        return OV_ENOMEM;
    cfg = output_cfg(r);
    ep_fds_widen(STDOUT_FILENO);
    rc = ep_output_open(&cfg, &r->output, &is_files);
    if (rc == OV_ESYS && is_files) {
        ep_voice_say(&r->voice, "cannot make the directory of '%s': %s",
                     cfg.names.text, strerror(errno));
        return OV_EINVAL;
    }
    if (rc != 0)
        return OV_ENOMEM;
    return ep_run_own_open(r, ep_output_places(r->output));
}

/* --- the hub */

static void on_consume(void *arg, uint32_t index, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    struct run *r = arg;

    ep_hub_put(r->hub, slice->buf);
    ep_hub_consumed(r->hub, index, act->stream, act->seq + 1, TOPO_NONE);
}

static void on_joined(void *arg)
{
    struct run *r = arg;

    ep_voice_note(&r->voice, "all nodes have joined after %.3f s: %u",
                  (double)(ep_clock_ns() - r->plan.relaunch->start_ns) / 1e9,
                  r->plan.nodes_count);
    r->plan.survey.has_joined = true;
    ep_run_begin(r);
}

static void on_lost(void *arg, uint32_t node)
{
    ep_run_lost(arg, node);
}

static void on_stall(void *arg, uint32_t stream, uint32_t node, uint32_t rank)
{
    struct run *r = arg;
    enum ep_output_place place;
    uint64_t since_ns;

    if (stream == 0 || ep_output_is_stuck(r->output, &since_ns, &place))
        return; /* not reported, as the stuck output holds up everything */
    if (stream == JOB_STREAM_PUSHED)
        ep_voice_say(&r->voice,
                     "process %u, of a further job, on %s does not read its "
                     "stdin: input pushed to any job waits for it",
                     rank, ep_run_host(&r->plan, node));
    else if (rank < r->own.desc.size)
        ep_run_readers_held(r->told.readers, rank);
    else
        ep_voice_say(
            &r->voice,
            "the daemon on %s does not pass on stdin: the job waits for it",
            ep_run_host(&r->plan, node));
}

static void on_leave(void *arg, uint32_t index)
{
    struct run *r = arg;

    (void)index;
    ep_run_over(r);
}

static void on_quiet(void *arg)
{
    struct run *r = arg;

    ep_run_down_pump(r->down);
    ep_run_check_done(r);
}

const struct ep_hub_events ep_run_hub_events = {
    .on_consume = on_consume,
    .on_record = on_record,
    .on_joined = on_joined,
    .on_lost = on_lost,
    .on_stall = on_stall,
    .on_leave = on_leave,
    .on_quiet = on_quiet,
};
