/* What comes up: records to the console, words of the nodes. */
#include "endpoints/run/up.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoints/run/ask.h"
#include "endpoints/run/daemons.h"
#include "endpoints/run/down.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/held.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/log.h"
#include "endpoints/run/loss.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/redirect.h"
#include "endpoints/run/signals.h"
#include "endpoints/run/style.h"
#include "endpoints/run/tap.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/fds.h"
#include "overlay/base/err.h"

/* --- records */

static void take(struct run *r, uint32_t cookie, struct ov_buf *buf)
{
    ep_hub_put(r->hub, buf);
    ep_hub_taken(r->hub, cookie);
}

static void on_started(struct run *r, uint32_t node)
{
    if (r->nodes[node].is_started)
        return;
    r->nodes[node].is_started = true;
    if (++r->started < r->nodes_count)
        return;
    r->launched_ns = ep_clock_ns();
    ep_run_note(r, "all processes are running after %.3f s: %u",
                (double)(r->launched_ns - r->start_ns) / 1e9, r->job.size);
}

static void on_usage(struct run *r, const struct job_usage *usage)
{
    r->usage_count += (uint32_t)usage->daemons;
    if (usage->rss_peak_bytes > r->usage_rss_max)
        r->usage_rss_max = usage->rss_peak_bytes;
    r->usage_cpu_us += usage->cpu_us;
    r->usage_refused += usage->refused_peers;
    r->usage_up += usage->frames_up;
    r->usage_down += usage->frames_down;
    r->usage_pieces += usage->lines_in_pieces;
}

static void say_no_spill(struct run *r, const struct job_word *state)
{
    const char *host = ep_run_host_of_rank(r, state->rank);
    int err = (int)state->err;

    if (r->job.spill_dir != NULL)
        ep_run_say(r, "%s: nothing can be spilled to --spill-dir '%s': %s",
                   host, r->job.spill_dir, strerror(err));
    else if (err == ENOTSUP)
        ep_run_say(r,
                   "%s: nothing can be spilled to TMPDIR or /var/tmp: they lie "
                   "in memory; name a place on a disk with --spill-dir",
                   host);
    else
        ep_run_say(r,
                   "%s: nothing can be spilled to TMPDIR or /var/tmp: %s; name "
                   "another place with --spill-dir",
                   host, strerror(err));
}

static void on_start_failed(struct run *r, const struct job_word *state)
{
    uint32_t app = 0;

    (void)job_node_of(&r->job, state->rank, &app);
    if (!r->is_killed && strcmp(state->text, JOB_WORD_STEP_SPILL) == 0)
        say_no_spill(r, state);
    else if (!r->is_killed && strcmp(state->text, "bind") == 0)
        ep_run_say(r, "rank %u on %s cannot be bound as --bind asks for: %s",
                   state->rank, ep_run_host_of_rank(r, state->rank),
                   strerror((int)state->err));
    else if (!r->is_killed)
        ep_run_say(r, "rank %u on %s cannot be started: %s of '%s': %s",
                   state->rank, ep_run_host_of_rank(r, state->rank),
                   state->text,
                   ep_run_jobs_subject(&r->job.apps[app], state->text),
                   strerror((int)state->err));
    ep_run_abort(r, 1);
}

static void on_slow_stdin(struct run *r, const struct job_word *state)
{
    const char *host = ep_run_host_of_rank(r, state->rank);

    switch ((enum job_stdin_event)state->stdin_event) {
    case JOB_STDIN_FULL:
        ep_run_say(r,
                   "rank %u on %s is %.4g MiB behind in its stdin, more are "
                   "not spilled: everybody waits for it from now on",
                   state->rank, host, (double)r->job.spill_bytes / (1 << 20));
        break;
    case JOB_STDIN_UNSAVED:
        ep_run_say(r,
                   "stdin of rank %u on %s cannot be spilled any further (%s; "
                   "--spill-dir names another place): everybody waits for it "
                   "from now on",
                   state->rank, host, strerror((int)state->err));
        break;
    case JOB_STDIN_CLOSED:
        ep_run_say(r,
                   "rank %u on %s has not read its stdin for %g s: it is "
                   "closed",
                   state->rank, host, r->job.close_ms / 1000.0);
        ep_run_tap_stdin(r, state->rank, state->rank, false);
        break;
    case JOB_STDIN_LOST:
        ep_run_say(r,
                   "spilled stdin of rank %u on %s cannot be read back: %s; "
                   "the job ends",
                   state->rank, host, strerror((int)state->err));
        ep_run_abort(r, 1);
        break;
    case JOB_STDIN_EVENTS:
        break;
    }
}

/* As a rule what is said of one host holds for many. */
static void on_pieces(struct run *r, uint32_t node, int err)
{
    (r->is_pieces_told ? ep_run_note : ep_run_say)(
        r,
        "%s: unfinished lines fill the memory for them, and no file can hold "
        "more in TMPDIR or /var/tmp (%s): some come in pieces",
        ep_run_host(r, node),
        err == ENOTSUP ? "they lie in memory" : strerror(err));
    r->is_pieces_told = true;
}

static void on_adopted(struct run *r, uint32_t node,
                       const struct job_word *state)
{
    char parent[32] = "the launcher";

    if (state->parent != 0 && state->parent <= r->nodes_count)
        snprintf(parent, sizeof(parent), "node %u",
                 ep_run_place(r, state->parent));
    ep_run_note(r, "node %u on %s has a new parent, %s, after %.3f s",
                ep_run_place(r, node), ep_run_host(r, node), parent,
                (double)state->away_us / 1e6);
    r->repairs++;
    if (state->away_us > r->repair_us_max)
        r->repair_us_max = state->away_us;
}

/* Of all jobs that it was told: else it is not up to date. */
static void on_over(struct run *r, uint32_t node, uint32_t jobs)
{
    if (jobs != r->nodes[node].jobs || r->nodes[node].is_final)
        return;
    r->nodes[node].is_final = true;
    r->finals++;
}

/* Once all have joined, and have told of their machines where that was asked.
 * One that was lost meanwhile counts as joined for the tree; the launch ends
 * for it, in a moment. */
static void begin(struct run *r)
{
    if (!r->survey.has_joined || r->phase != RUN_LAUNCHING || r->is_aborted ||
        r->missing_count > 0 ||
        (ep_run_survey_asks(r) &&
         (r->survey.come < r->nodes_count || !ep_run_survey_fits(r))))
        return;
    r->phase = RUN_RUNNING;
    ep_run_daemons_joined(r);
    if (r->options.is_dvm)
        ep_run_dvm_begin(r);
    else if (ep_run_job_send(r))
        ep_run_abort(r, 1);
    if (r->is_stop_due)
        ep_run_stop(r);
}

/* Is it about a process of another job than the run's own? */
static bool is_of_others(const struct run *r, const struct job_word *state)
{
    return (state->kind == JOB_WORD_STARTED || state->kind == JOB_WORD_EXIT ||
            state->kind == JOB_WORD_FAILED || state->kind == JOB_WORD_PIDS ||
            state->kind == JOB_WORD_STDIN) &&
           state->rank >= r->job.size;
}

static void on_word(struct run *r, uint32_t node, const struct job_word *state)
{
    if (is_of_others(r, state)) {
        ep_run_jobs_word(r, state);
        return;
    }
    switch ((enum job_word_kind)state->kind) {
    case JOB_WORD_STARTED:
        on_started(r, node);
        break;
    case JOB_WORD_PIDS:
        ep_run_tap_started(r, state->rank, state->pids, state->count);
        break;
    case JOB_WORD_EXIT:
        ep_run_tap_exit(r, state->rank, state->status);
        ep_proof_ended(r->proof, state->rank, state->tallies);
        ep_run_took(r, state->rank, state->taken_bytes);
        if (state->rank < r->job.size && state->status != 0)
            ep_run_failed(r, state->rank, (int)state->status);
        break;
    case JOB_WORD_FAILED: /* it wrote nothing */
        ep_proof_ended(r->proof, state->rank, state->tallies);
        ep_run_took(r, state->rank, 0);
        on_start_failed(r, state);
        break;
    case JOB_WORD_ADOPTED:
        on_adopted(r, node, state);
        break;
    case JOB_WORD_USAGE:
        on_usage(r, &state->usage);
        break;
    case JOB_WORD_NOTE:
        /* As a rule what is said of one host holds for many. */
        (r->is_note_told ? ep_run_note : ep_run_say)(
            r, "%s: %s", ep_run_host(r, node), state->text);
        r->is_note_told = true;
        break;
    case JOB_WORD_OVER:
        on_over(r, node, state->jobs);
        break;
    case JOB_WORD_STDIN:
        if (state->rank < r->job.size && !r->is_killed)
            on_slow_stdin(r, state);
        break;
    case JOB_WORD_MACHINE:
        if (!ep_run_ask_word(r, node, state) &&
            ep_run_survey_word(r, node, state))
            begin(r);
        break;
    case JOB_WORD_PIECES:
        on_pieces(r, node, (int)state->err);
        break;
    case JOB_WORD_KINDS:
        break;
    }
}

static void on_state_record(struct run *r, const struct ov_record *rec,
                            const struct ov_slice *slice)
{
    struct ov_rd rd =
        ov_rd_init(slice->buf->mem + slice->off_bytes, slice->len_bytes);
    struct job_word state;

    while (ov_rd_left(&rd) > 0 && job_word_decode(&rd, &state) == 0)
        on_word(r, rec->source, &state);
}

static void on_record(void *arg, const struct ov_act *act,
                      const struct ov_slice *slice)
{
    struct run *r = arg;
    const struct ov_record *rec = &act->rec;
    struct ep_console_record out = {
        .proc = rec->rank,
        .rank = rec->rank,
        .host = ep_run_host(r, rec->source),
        .time_ns = r->options.style.has_time ? ep_clock_unix_ns() : 0,
        .channel = rec->channel,
        .is_eof = (rec->flags & OV_RECORD_EOF) != 0,
        .buf = slice->buf,
        .off_bytes = slice->off_bytes,
        .len_bytes = slice->len_bytes,
        .cookie = act->cookie,
    };

    if (rec->channel == OV_CHANNEL_STATE) {
        on_state_record(r, rec, slice);
        take(r, act->cookie, slice->buf);
        return;
    }
    ep_run_hold(r, act->cookie, slice->buf);
    if (rec->job != 0) {
        ep_run_redirect_replay(r, &out, rec->job);
        return;
    }
    if (rec->rank >= r->job.size) {
        ep_run_jobs_output(r, &out);
        ep_run_let_go(r, act->cookie);
        return;
    }
    ep_run_watch(r);
    r->output_bytes[rec->channel] += slice->len_bytes;
    ep_run_redirect_record(r, &out);
}

/* --- the console
 * */

static void on_written(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes)
{
    struct run *r = arg;
    const bool is_second =
        place == EP_OUTPUT_FILES && ep_output_has(r->output, EP_OUTPUT_CONSOLE);

    if (ep_run_redirect_written(r, is_second, proc, channel))
        ep_proof_written(r->proof, is_second, proc, channel, mem, len_bytes);
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct run *r = arg;
    uint32_t token;

    if (ep_run_redirect_taken(r, cookie))
        return;
    if (!ep_run_log_taken(r, cookie, &token))
        ep_run_let_go(r, cookie);
    else if (token != 0)
        ep_run_tap_logged(r, token);
}

/* A reader that has enough ends the job as a pipe does; anything else is told.
 */
static void on_output_error(void *arg, uint8_t channel, int err,
                            const char *why)
{
    struct run *r = arg;

    if (err == EPIPE && channel == OV_CHANNEL_STDOUT) {
        r->is_quiet = true;
        ep_run_abort(r, 128 + SIGPIPE);
        return;
    }
    ep_run_say(r, "%s; the job ends", why);
    ep_run_abort(r, 1);
}

static void on_drained(void *arg)
{
    ep_run_check_done(arg);
}

static void on_console_note(void *arg, const char *text)
{
    ep_run_say(arg, "%s", text);
}

static struct ep_output_cfg output_cfg(struct run *r)
{
    static const struct ep_output_events events = {
        .on_written = on_written,
        .on_taken = on_taken,
        .on_error = on_output_error,
        .on_drained = on_drained,
        .on_note = on_console_note,
    };
    struct ep_output_cfg cfg;

    ep_run_output_cfg(&r->options, r->nspace, &cfg);
    cfg.console.base = r->base;
    cfg.console.writer = r->writer;
    cfg.events = &events;
    cfg.arg = r;
    /* Less than one link may have in flight, so that the next piece of a long
     * line always finds its way. */
    cfg.console.park_limit_bytes =
        (uint64_t)r->sizes.frame_bytes * r->sizes.up_frames / 2;
    cfg.console.round_bytes =
        (uint64_t)r->sizes.frame_bytes * (r->nodes_count + 1);
    return cfg;
}

int ep_run_output_open(struct run *r)
{
    struct ep_output_cfg cfg;
    bool is_files;
    int rc;

    if (ep_run_held_open(r) || ep_writer_open(r->base, &r->writer) ||
        ep_run_redirect_open(r))
        return OV_ENOMEM;
    cfg = output_cfg(r);
    ep_fds_widen(STDOUT_FILENO);
    rc = ep_output_open(&cfg, &r->output, &is_files);
    if (rc == OV_ESYS && is_files) {
        ep_run_say(r, "cannot make the directory of '%s': %s", cfg.names.text,
                   strerror(errno));
        return OV_EINVAL;
    }
    if (rc != 0)
        return OV_ENOMEM;
    return ep_proof_open(r->job.size, job_channels(&r->job),
                         ep_output_places(r->output), &r->proof);
}

/* --- the hub
 * */

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

    ep_run_note(r, "all nodes have joined after %.3f s: %u",
                (double)(ep_clock_ns() - r->start_ns) / 1e9, r->nodes_count);
    r->survey.has_joined = true;
    begin(r);
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
        return; /* then it is the output that holds everybody up */
    if (stream == JOB_STREAM_PUSHED)
        ep_run_say(r,
                   "process %u, of a further job, on %s does not read its "
                   "stdin: pushes to such jobs wait for it",
                   rank, ep_run_host(r, node));
    else if (rank < r->job.size)
        ep_run_say(r,
                   "rank %u on %s does not read its stdin: everybody waits "
                   "for it",
                   rank, ep_run_host(r, node));
    else
        ep_run_say(r, "%s does not pass on stdin: everybody waits for it",
                   ep_run_host(r, node));
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

    ep_run_pump(r);
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
