/* Opens, runs and closes a run, in this order. */
#include "endpoints/run/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/client/door.h"
#include "endpoints/client/viewers.h"
#include "endpoints/hub/session.h"
#include "endpoints/run/awaited.h"
#include "endpoints/run/beside.h"
#include "endpoints/run/down.h"
#include "endpoints/run/door.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/records.h"
#include "endpoints/run/log.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/interrupt.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/launch.h"
#include "endpoints/run/loss.h"
#include "endpoints/run/losses.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/readers.h"
#include "endpoints/run/recent.h"
#include "endpoints/run/redirect.h"
#include "endpoints/run/report.h"
#include "endpoints/run/sinks.h"
#include "endpoints/run/stalls.h"
#include "endpoints/run/stats.h"
#include "endpoints/run/status.h"
#include "endpoints/run/status_words.h"
#include "endpoints/run/style.h"
#include "endpoints/run/stats_json.h"
#include "endpoints/run/clients.h"
#include "endpoints/run/up.h"
#include "endpoints/run/verdict.h"
#include "endpoints/spawn/mark.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/limits.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"

/* How long daemons may take to end when the launcher is killed. */
enum { GRACE_MS = 3000 };

static int open_hub(struct run *r)
{
    static const uint32_t root = 0;
    struct ep_hub_cfg cfg = {
        .base = r->base,
        .auth = &r->plan.config.auth,
        .nodes = &root,
        .nodes_count = 1,
        .events = &ep_run_hub_events,
        .arg = r,
    };
    char why[EP_BOOT_WHY_MAX] = "";
    uint64_t need = ep_run_descriptors(&r->plan);

    if (ep_session_open(&r->plan.config, &cfg, need, &r->hub, why)) {
        ep_voice_say(&r->voice, "%s", why);
        return 1;
    }
    ep_run_down_hub(r->down, r->hub);
    /* If a host cannot be reached from other hosts, the launcher starts a shell
     * for it, which takes three descriptors. */
    if (ep_launcher_ops(r->plan.config.launcher)->is_shell)
        ep_limits_wish(need + 3 * (uint64_t)r->plan.nodes_count);
    return 0;
}

/* --- the daemons */

static void self(void *arg, struct ep_boot_peer *out)
{
    const struct run *r = arg;

    ep_hub_self(r->hub, out);
}

static void launch_failed(void *arg)
{
    struct run *r = arg;

    if (ep_run_launch_misses(r->launch))
        ep_run_awaited_failed(&r->plan, r->hub, r->launch);
    ep_run_abort(r, 1);
}

static void on_broken(void *arg)
{
    struct run *r = arg;

    if (!ep_run_bears_loss(r))
        ep_run_abort(r, 1);
}

static void on_gone(void *arg)
{
    struct run *r = arg;

    if (r->session.state == JOB_SESSION_OVER)
        event_base_loopbreak(r->base);
}

static int open_launch(struct run *r)
{
    static const struct run_launch_events events = {
        .self = self,
        .failed = launch_failed,
        .on_broken = on_broken,
        .on_gone = on_gone,
    };
    const struct run_launch_cfg cfg = {
        .plan = &r->plan,
        .session = &r->session,
        .base = r->base,
        .spawner = r->spawner,
        .events = &events,
        .arg = r,
    };

    if (ep_run_loss_open(r))
        return ep_voice_fail(&r->voice, "out of memory");
    return ep_run_launch_open(&cfg, &r->launch);
}

static void connect_all(struct run *r)
{
    ep_run_launch_connect(r->launch);
    ep_hub_start(r->hub);
}

/* --- stdin of the processes */

static void on_stdin_end(void *arg)
{
    struct run *r = arg;

    ep_viewers_has_stdin(r->clients.viewers, 0, r->own.desc.size - 1, false);
}

/* Tells a user who has typed the end of stdin why the processes do not see it
 * yet. */
static void on_stdin_held(void *arg)
{
    struct run *r = arg;

    if (isatty(STDIN_FILENO))
        ep_voice_remark(
            &r->voice, "the launcher's stdin has ended; that of the processes "
                       "ends when the tools that push to it have disconnected");
}

static void on_pushed(void *arg, uint32_t writer)
{
    ep_viewers_pushed(((struct run *)arg)->clients.viewers, writer);
}

static void on_stdin_error(void *arg, int err)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "cannot read %s: %s",
                 r->options.input != NULL ? r->options.input : "stdin",
                 strerror(err));
    ep_run_abort(r, 1);
}

static int open_down(struct run *r)
{
    static const struct run_down_events events = {
        .on_end = on_stdin_end,
        .on_held = on_stdin_held,
        .on_pushed = on_pushed,
        .on_error = on_stdin_error,
    };
    const struct run_down_cfg cfg = {
        .base = r->base,
        .session = &r->session,
        .job = &r->own.desc,
        .nodes_count = r->plan.nodes_count,
        .frame_bytes = r->plan.sizes.frame_bytes,
        .window = r->plan.sizes.down_frames,
        .is_kept = r->options.keep_stdin,
        .input_fd = r->fds.input,
        .events = &events,
        .arg = r,
    };
    int rc = ep_run_down_open(&cfg, &r->down);

    if (rc != 0)
        return rc;
    r->fds.input = -1;
    r->orders = ep_run_down_orders(r->down);
    return 0;
}

/* --- files
 *
 * Opens the file of --stats, when it is not a regular file. This fails at once
 * when it is a pipe without a reader.
 */
static int open_stream(struct run *r)
{
    char why[EP_WHY_MAX] = "";
    int rc;

    if (r->options.stats == NULL || r->fds.stats >= 0)
        return 0;
    rc = ep_path_write("--stats", r->options.stats, &r->fds.stats, why);
    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : 1;
}

static int open_input_file(struct run *r)
{
    char why[EP_WHY_MAX];
    int rc;

    if (r->options.input == NULL)
        return 0;
    rc = ep_path_read("--input", r->options.input, &r->fds.input, why);
    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : 1;
}

static int open_output_files(struct run *r)
{
    char why[EP_WHY_MAX];
    int rc = ep_run_output_look(&r->options, r->fds.outputs, why);

    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : 1;
}

/* Opens files and plans. As opening files may take long, the timeout and the
 * handling of signals begin before. */
static int make_plan(struct run *r)
{
    int rc;

    ep_prelude_open(r->options.timeout_s, r->plan.relaunch->start_ns);
    rc = open_stream(r);
    if (rc == 0)
        rc = open_input_file(r);
    if (rc == 0)
        rc = open_output_files(r);
    if (rc == 0)
        rc = ep_run_plan(&r->plan,
                         r->fds.input >= 0 ? r->fds.input : STDIN_FILENO);
    ep_prelude_close();
    return rc;
}

/* --- the status line */

static void look_at_launch(const struct run *r, unsigned columns,
                           struct run_status_view *view)
{
    uint32_t count;

    view->is_launching = true;
    view->joined = r->hub == NULL ? 0 : ep_hub_look(r->hub, 0, 0).joined;
    view->nodes = r->plan.nodes_count;
    view->awaited = ep_run_awaited_list(&r->plan, r->hub,
                                        ep_run_status_room(columns), &count);
}

static void look_at_job(const struct run *r, struct run_status_view *view)
{
    const struct run_stdin_view now = ep_run_down_look(r->down);

    view->is_starting = r->own.life.state == JOB_LIFE_STARTING;
    view->processes = r->own.desc.size;
    view->over = r->own.life.processes_over;
    view->failed = r->own.life.failure.count;
    view->has_stdin = now.is_open;
    view->stdin_bytes = now.sent_bytes;
    view->stdin_base = now.base;
    view->is_uneven = now.is_uneven;
    if (!now.is_open || !now.is_full || now.rank >= r->own.desc.size)
        return;
    view->slow_rank = now.rank;
    view->slow_host = ep_run_host_of_rank(&r->plan, now.rank);
}

/* Tells whether a user types the stdin of the job. Then the terminal shows a
 * dialogue with the job. */
static bool is_typed(const struct run *r)
{
    return r->options.input == NULL && isatty(STDIN_FILENO) &&
           ep_run_down_sent(r->down) > 0;
}

static bool look(void *arg, unsigned columns, struct run_status_view *view)
{
    const struct run *r = arg;

    if (r->session.state == JOB_SESSION_LAUNCHING) {
        look_at_launch(r, columns, view);
        return true;
    }
    if (!job_session_goes_on(&r->session) || is_typed(r))
        return false;
    look_at_job(r, view);
    return true;
}

static int open_status(struct run *r)
{
    const struct run_status_cfg cfg = {
        .base = r->base,
        .output = r->output,
        .start_ns = r->plan.relaunch->start_ns,
        .is_wanted = !r->options.quiet && !r->options.is_dvm,
        .look = look,
        .arg = r,
    };

    return ep_run_status_open(&cfg, &r->status);
}

/* --- opening and closing
 *
 * Does everything that comes before the loop. Returns 0 or the exit code. */
static int open_all(struct run *r)
{
    int rc = make_plan(r);

    if (rc != 0)
        return rc;
    if (ep_run_nodes_open(r->plan.nodes_count, &r->nodes))
        return ep_voice_fail(&r->voice, "out of memory");
    signal(SIGPIPE, SIG_IGN);
    /* a write beyond a size limit then fails with EFBIG */
    signal(SIGXFSZ, SIG_IGN);
    r->base = event_base_new();
    rc = OV_ENOMEM;
    if (r->base != NULL && !open_down(r) && !ep_run_jobs_open(r) &&
        !ep_run_end_open(r) && !ep_run_interrupt_open(r) &&
        !ep_run_door_serve(r))
        rc = ep_run_output_open(r);
    if (rc == 0 && r->base != NULL)
        rc = open_status(r);
    if (rc != 0 && rc != OV_EINVAL)
        ep_voice_say(
            &r->voice,
            "cannot start: out of memory or of open files (ulimit -n)");
    if (rc != 0)
        return 1;
    ep_limits_keep_memory();
    /* The daemons start, and load the fabric while the launcher opens the
     * rest. */
    ep_limits_wish(ep_run_descriptors(&r->plan) +
                   /* a client that has a store needs two */
                   2 * (uint64_t)EP_DOOR_CLIENTS_MAX);
    rc = open_launch(r);
    r->jobs.next_number = r->own.desc.size;
    /* A dvm accepts no tool before all nodes have joined. */
    if (rc == 0 && !r->options.is_dvm)
        ep_run_clients_open(r);
    if (rc == 0)
        rc = open_hub(r);
    if (rc == 0)
        connect_all(r);
    return rc;
}

static void close_all(struct run *r)
{
    ep_run_door_pause(r);
    ep_run_interrupt_close(r);
    ep_run_loss_close(r);
    ep_run_end_close(r);
    ep_run_dvm_close(r);
    ep_run_clients_close(r);
    ep_run_status_close(r->status);
    ep_run_down_close(r->down);
    r->down = NULL;
    r->orders = NULL;
    ep_output_close(r->output);
    r->output = NULL;
    ep_run_sinks_forget(r);
    ep_writer_close(r->writer, true);
    ep_run_jobs_close(r);
    ep_run_redirect_close(r);
    ep_run_readers_close(r->told.readers);
    ep_run_stalls_close(r->own.stalls);
    r->own.stalls = NULL;
    ep_run_beside_close(r->told.beside);
    ep_recent_close(r->told.recent);
    ep_hub_close(r->hub);
    ep_run_launch_close(r->launch);
    ep_spawner_close(r->spawner);
    if (r->base != NULL)
        event_base_free(r->base);
    ep_run_job_fini(&r->own);
    ep_run_nodes_close(r->nodes);
    ep_voice_fini(&r->voice);
    ep_run_records_close(r->records);
    ep_run_logs_close(r->logs);
    ep_run_plan_close(&r->plan);
    if (r->fds.stats >= 0)
        close(r->fds.stats);
    if (r->fds.input >= 0)
        close(r->fds.input);
    for (int i = 0; i < 2; i++) {
        if (r->fds.outputs[i] >= 0)
            close(r->fds.outputs[i]);
    }
}

/* Finds the descriptor that --stats names, before any other is opened. Returns
 * 0 or the exit code. */
static int open_stats(struct run *r)
{
    char why[EP_WHY_MAX] = "";
    int rc = 0;

    r->fds.stats = -1;
    if (r->options.stats != NULL)
        rc = ep_stats_fd(r->options.stats, &r->fds.stats, why);
    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : 1;
}

static int open_report(struct run *r)
{
    if (r->options.report_uri == NULL)
        return 0;
    return ep_run_report_open(r->options.report_uri, &r->voice, &r->report);
}

static void on_wait(void *arg)
{
    ep_watch_soon(((struct run *)arg)->end.words);
}

/* Asks the console for stderr, because it writes lines of processes there that
 * must not be broken. */
static bool on_ask(void *arg, bool wants)
{
    struct run *r = arg;

    if (r->output == NULL)
        return true;
    if (wants)
        return ep_output_pause(r->output);
    ep_output_resume(r->output);
    return true;
}

/* Tells the user which output of the run's own job is missing. When the loss of
 * a node has ended the job, the user knows of the loss. */
static void judge_output(struct run *r)
{
    const struct run_judged what = {
        .plan = &r->plan,
        .job = &r->own.desc,
        .nodes = r->nodes,
        .proof = r->own.proof,
        .voice = &r->voice,
        .is_cut = r->end.is_given_up || ep_output_dropped(r->output) > 0,
        .is_news = r->session.code < 0,
    };

    if (!r->session.has_begun || r->options.is_dvm)
        return; /* No process was ever started. */
    if (ep_run_judge(&what) && r->session.code < 0)
        r->session.code = 1;
}

/* Runs the loop, and then everything that must be done before anything is
 * closed. */
static int run_open(struct run *r)
{
    int rc;

    event_base_dispatch(r->base);
    ep_run_status_close(r->status);
    r->status = NULL;
    ep_run_end_output(r);
    ep_run_losses_tell(r->loss.untold);
    judge_output(r);
    rc = ep_run_exit_code(r);
    ep_run_down_give_back(r->down);
    ep_run_last_words(r);
    if (r->options.stats != NULL && !r->plan.relaunch->is_due &&
        ep_run_stats_write(r) && rc == 0)
        rc = 1;
    ep_run_loss_sweep(r);
    ep_voice_retry(&r->voice, 0);
    return rc;
}

/* Runs one launch. *r is zeroed, except for its options and plan. */
static int run_once(struct run *r)
{
    int rc;

    r->launch_ns = ep_clock_ns();
    r->session = JOB_SESSION_INIT;
    r->fds.input = r->fds.outputs[0] = r->fds.outputs[1] = -1;
    r->voice = (struct run_voice){.is_verbose = r->options.verbose,
                                  .is_quiet = r->options.quiet,
                                  .on_wait = on_wait,
                                  .ask = on_ask,
                                  .arg = r};
    rc = open_stats(r);
    if (rc == 0)
        rc = open_report(r);
    if (rc == 0)
        ep_run_door_open(r);
    if (rc == 0 && ep_spawner_open(GRACE_MS, &r->spawner)) {
        ep_voice_say(&r->voice, "cannot start xylem's process that starts all "
                                "others (ulimit -u may be too low)");
        rc = 1;
    }
    if (rc == 0)
        rc = open_all(r);
    if (rc == 0)
        rc = run_open(r);
    close_all(r);
    return rc;
}

/* Runs a launch. *again keeps what the next launch has to know. */
static int launch(const struct ep_run_options *options,
                  struct run_relaunch *again)
{
    struct run *r = calloc(1, sizeof(*r));
    struct sigaction before[2];
    int rc;

    if (r == NULL)
        return ep_voice_fail(&(struct run_voice){0}, "out of memory");
    sigaction(SIGPIPE, NULL, &before[0]);
    sigaction(SIGXFSZ, NULL, &before[1]);
    r->options = *options;
    r->plan = (struct run_plan){.options = &r->options,
                                .relaunch = again,
                                .voice = &r->voice,
                                .job = &r->own.desc};
    rc = run_once(r);
    sigaction(SIGPIPE, &before[0], NULL);
    sigaction(SIGXFSZ, &before[1], NULL);
    free(r);
    return rc;
}

int ep_run(const struct ep_run_options *options)
{
    struct run_relaunch again = {.start_ns = options->start_ns};
    sigset_t before;
    int rc;

    if (again.start_ns == 0)
        again.start_ns = ep_clock_ns();
    /* Removes the mark of a job in which this launcher runs, as this run is
     * another job. */
    unsetenv(EP_MARK_NAME);
    sigprocmask(SIG_SETMASK, NULL, &before);
    do {
        /* A launch blocks signals when it ends, so that they wait for the next
         * one. */
        sigprocmask(SIG_SETMASK, &before, NULL);
        again.is_due = false;
        rc = launch(options, &again);
    } while (again.is_due);
    ep_door_close(again.door);
    ep_run_relaunch_fini(&again);
    return rc;
}
