/* How a run ends: time limits, losses, exit codes, and the last messages. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/client/viewers.h"
#include "endpoints/run/awaited.h"
#include "endpoints/run/exits.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/launch.h"
#include "endpoints/run/left_out.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/recent.h"
#include "endpoints/run/rest.h"
#include "endpoints/run/status.h"
#include "endpoints/run/suspension.h"
#include "endpoints/sys/clock.h"
#include "job/order.h"
#include "job/route.h"
#include "overlay/base/err.h"

enum {
    EXIT_TIMEOUT = 124,
    /* How many seconds the end may take after it was ordered, and how many the
     * daemons may take after the goodbye. */
    END_S = 3,
    /* how long the launcher waits for news of an earlier failure */
    FAILURE_MS = 200,
    STUCK_S = 10, /* output that nobody reads for this time is reported */
    WATCH_MS = 1000,
    WORDS_MS = 100,      /* how often to try again to write to stderr */
    LAST_WORDS_MS = 500, /* how long to wait at the end for stderr to be read */
    LAUNCHES = 2, /* how many times launch_timeout_s a launch may take in all */
};

/* --- ending */

static void arm_timer(struct event *timer, unsigned seconds)
{
    struct timeval wait = {(time_t)seconds, 0};

    evtimer_add(timer, &wait);
}

static void leave(struct run *r)
{
    evtimer_del(r->end.hard);
    if (r->hub != NULL)
        ep_hub_leave(r->hub);
    ep_run_launch_leave(r->launch);
    if (!ep_run_launch_is_alive(r->launch))
        event_base_loopbreak(r->base);
    else
        arm_timer(r->end.hard, END_S);
}

static unsigned step_session(struct run *r, enum job_session_event event,
                             int code)
{
    const unsigned acts = job_session_step(&r->session, event, code);

    if ((acts & JOB_SESSION_DO_KILL) != 0) {
        ep_run_jobs_killed(r);
        ep_run_orders_give(r->orders,
                           &(struct job_order){.kind = JOB_CONTROL_KILL});
    }
    if ((acts & JOB_SESSION_DO_HURRY) != 0)
        arm_timer(r->end.hard, END_S);
    if ((acts & JOB_SESSION_DO_GOODBYE) != 0) {
        evtimer_del(r->end.limit);
        ep_run_orders_send(r->orders, OV_CONTROL_GOODBYE, NULL, 0);
    }
    if ((acts & JOB_SESSION_DO_LEAVE) != 0)
        leave(r);
    if ((acts & JOB_SESSION_DO_BREAK) != 0)
        event_base_loopbreak(r->base);
    return acts;
}

static void on_hard(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    step_session(arg, JOB_SESSION_LATE, 0);
}

void ep_run_over(struct run *r)
{
    step_session(r, JOB_SESSION_GONE, 0);
}

void ep_run_begun(struct run *r)
{
    step_session(r, JOB_SESSION_BEGUN, 0);
}

static bool is_flushing(const struct run *r)
{
    return r->clients.is_flushing && !r->clients.is_flushed;
}

static bool is_flushed(struct run *r)
{
    if (!r->clients.is_flushed) {
        r->clients.is_flushing = true;
        r->clients.is_flushed = !ep_viewers_flush(r->clients.viewers);
    }
    return r->clients.is_flushed;
}

/* Ends the session when all output has arrived and was written, or can no
 * longer be written. */
void ep_run_check_done(struct run *r)
{
    if (!job_session_runs(&r->session) || r->output == NULL ||
        (r->options.is_dvm && !r->end.is_ending))
        return;
    if (!ep_run_nodes_are_final(r->nodes) || ep_run_jobs_further(r) ||
        ep_viewers_replays(r->clients.viewers) || is_flushing(r) ||
        job_route_waiting(r->redirect.route) > 0)
        return;
    ep_output_finish(r->output);
    if (ep_output_pending(r->output) == 0 && is_flushed(r))
        step_session(r, JOB_SESSION_DONE, 0);
}

static void on_check(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_run_check_done(arg);
}

void ep_run_kill(struct run *r)
{
    step_session(r, JOB_SESSION_KILL, 0);
}

/* Before jobs have begun only daemons must end, and they end by themselves, so
 * the loop is left at once. The exception is srun, whose end is waited for. */
void ep_run_abort(struct run *r, int exit_code)
{
    if ((step_session(r, JOB_SESSION_ABORT, exit_code) &
         JOB_SESSION_DO_LEAVE) == 0)
        return;
    ep_run_jobs_killed(r);
    if (!ep_launcher_ops(r->plan.config.launcher)->is_for_all)
        event_base_loopexit(r->base, NULL);
}

/* Tells the user which hosts a launch was waiting for that ends now. */
static void tell_awaited(const struct run *r)
{
    if (r->session.state == JOB_SESSION_LAUNCHING)
        ep_run_awaited_ended(&r->plan, r->hub);
}

bool ep_run_end_early(struct run *r, int signo)
{
    if (ep_run_relaunch_stop(r->plan.relaunch, 128 + signo, &r->session.code))
        return true;
    if (r->session.state != JOB_SESSION_LAUNCHING)
        return false;
    r->end.is_quiet = true;
    tell_awaited(r);
    ep_run_abort(r, 128 + signo);
    return true;
}

/* --- processes that end badly */

/* Reports the failure that is known as the first. Called only after the output
 * of the failed process was written. At the end it may turn out that another
 * process failed earlier. */
static void tell_failure(struct run *r)
{
    const struct job_failure *failure = &r->own.life.failure;

    if (failure->count == 0 || r->end.is_quiet)
        return;
    if (!r->told.failure)
        ep_run_exits_first(&r->plan, &r->own.life, &r->voice);
    else if (r->told.first.rank != failure->rank &&
             r->told.first.status != failure->status)
        ep_run_exits_earlier(&r->plan, &r->own.life, &r->voice);
    r->told.failure = true;
    r->told.first = failure->firsts[0];
    ep_recent_keep(r->told.recent, failure->rank);
}

int ep_run_exit_code(const struct run *r)
{
    if (r->session.code >= 0)
        return r->session.code;
    return r->options.is_dvm ? 0 : job_life_code(&r->own.life);
}

void ep_run_end_output(struct run *r)
{
    r->end.is_given_up = ep_output_pending(r->output) > 0;
    if (r->end.is_given_up)
        ep_output_give_up(r->output);
    r->voice.ask = NULL;
    ep_voice_retry(&r->voice, LAST_WORDS_MS);
    r->end.is_unheard = ep_voice_waits(&r->voice);
}

/* Tells what was left out: at least that much, where the end of a process was
 * not reported. */
static void tell_left_out(struct run *r)
{
    const struct ep_left_sum sum = ep_left_sum(r->own.left);
    const char *least = sum.is_least ? "at least " : "";
    char text[EP_LEFT_TEXT_MAX];

    ep_left_text(&sum, &r->own.desc.filter, text);
    if (text[0] != '\0')
        ep_voice_remark(&r->voice, "left out: %s%s", least, text);
    ep_left_bars(&sum, text);
    if (text[0] != '\0')
        ep_voice_remark(&r->voice, "%s", text);
}

void ep_run_last_words(struct run *r)
{
    tell_failure(r);
    if (r->own.life.failure.count > 0 && !r->end.is_quiet) {
        ep_run_exits_wrote(&r->plan, &r->own.life, r->told.recent, &r->voice);
        ep_run_exits_tell(&r->plan, &r->own.life, &r->voice);
    }
    tell_left_out(r);
    if (r->end.is_given_up && !r->end.is_quiet)
        ep_voice_say(&r->voice,
                     "output that could not be written was discarded");
    ep_voice_retry(&r->voice, r->end.is_unheard ? 0 : LAST_WORDS_MS);
}

/* --- checks while something waits */

static void check_stuck(struct run *r)
{
    enum ep_output_place place;
    uint64_t since_ns, resumed_ns;

    if (r->told.stuck)
        return;
    if (!ep_output_is_stuck(r->output, &since_ns, &place)) {
        if (!ep_run_jobs_are_stuck(r, &since_ns))
            return;
        place = EP_OUTPUT_FILES;
    }
    resumed_ns = ep_run_suspension_resumed_ns(r->suspension);
    /* nothing was written while the launcher was stopped */
    if (since_ns < resumed_ns)
        since_ns = resumed_ns;
    if (ep_clock_ns() - since_ns < STUCK_S * UINT64_C(1000000000))
        return;
    r->told.stuck = true;
    if (place == EP_OUTPUT_CONSOLE)
        ep_voice_say(&r->voice,
                     "nobody reads stdout or stderr: the job waits for it");
    else
        ep_voice_say(&r->voice, "the file system with the output files does "
                                "not respond: the job waits for it");
}

/* Reports daemons that have not joined in time. Usually a daemon reports itself
 * why it cannot join; this is for daemons that cannot. When some are known to
 * be missing, missing.c tells the user soon. */
static void check_launch(struct run *r)
{
    double waited_s = (double)(ep_clock_ns() - r->launch_ns) / 1e9;

    if (r->session.state != JOB_SESSION_LAUNCHING ||
        ep_run_launch_misses(r->launch))
        return;
    if (waited_s < LAUNCHES * r->options.launch_timeout_s) {
        if (waited_s + 0.5 >= r->told.awaited_s &&
            !ep_run_status_tells(r->status))
            r->told.awaited_s = ep_run_awaited_wait(&r->plan, r->hub,
                                                    (unsigned)(waited_s + 0.5));
        return;
    }
    ep_voice_say(&r->voice,
                 "timed out after %.0f s: only %u of %u node%s joined "
                 "(--launch-timeout gives the others more time)",
                 waited_s, ep_hub_look(r->hub, 0, 0).joined,
                 r->plan.nodes_count,
                 r->plan.nodes_count == 1 ? " has" : "s have");
    tell_awaited(r);
    ep_run_abort(r, 1);
}

/* True when the first failure can be reported. A failure that the launcher is
 * told of a little later may turn out to be the first. */
static bool is_failure_due(const struct run *r)
{
    return r->own.life.failure.count > 0 && !r->told.failure &&
           ep_output_pending(r->output) == 0 &&
           ep_clock_ns() - r->told.failed_ns >= FAILURE_MS * UINT64_C(1000000);
}

static void on_watch(void *arg)
{
    struct run *r = arg;

    check_launch(r);
    check_stuck(r);
    if (is_failure_due(r))
        tell_failure(r);
    if (r->session.state == JOB_SESSION_LAUNCHING ||
        ep_output_pending(r->output) > 0 || r->jobs.sinks_open > 0 ||
        (r->own.life.failure.count > 0 && !r->told.failure))
        ep_watch_soon(r->watch);
}

static void on_words(void *arg)
{
    struct run *r = arg;

    ep_voice_retry(&r->voice, 0);
    if (ep_voice_waits(&r->voice))
        ep_watch_soon(r->end.words);
}

static void end_late(void *arg)
{
    struct run *r = arg;

    tell_awaited(r);
    if (!ep_run_relaunch_stop(r->plan.relaunch, EXIT_TIMEOUT, &r->session.code))
        ep_run_abort(r, EXIT_TIMEOUT);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    const struct run_rest_words words = {
        .rest = "still running at the timeout", .then = end_late, .arg = r};

    (void)fd;
    (void)what;
    ep_voice_say(&r->voice, "timed out after %g s (--timeout); the job ends",
                 r->options.timeout_s);
    if (r->session.has_begun && !r->options.is_dvm &&
        job_session_goes_on(&r->session))
        ep_run_rest_tell(r->end.rest.rest, r->orders, &words);
    else
        end_late(r);
}

int ep_run_end_open(struct run *r)
{
    double gone_s = (double)(ep_clock_ns() - r->plan.relaunch->start_ns) / 1e9;
    double left_s = r->options.timeout_s - gone_s;
    const struct run_rest_cfg rest = {.base = r->base,
                                      .plan = &r->plan,
                                      .life = &r->own.life,
                                      .look = &r->own.look,
                                      .session = &r->session};
    /* a limit that has passed already fires at once */
    struct timeval limit = {0, 1};

    r->end.limit = evtimer_new(r->base, on_limit, r);
    r->end.hard = evtimer_new(r->base, on_hard, r);
    r->end.check = event_new(r->base, -1, 0, on_check, r);
    if (r->end.limit == NULL || r->end.hard == NULL || r->end.check == NULL ||
        ep_watch_open(r->base, WATCH_MS, WATCH_MS, on_watch, r, &r->watch) ||
        ep_watch_open(r->base, 1, WORDS_MS, on_words, r, &r->end.words))
        return OV_ENOMEM;
    if (ep_run_rest_open(&rest, &r->end.rest.rest) != 0)
        return OV_ENOMEM;
    ep_watch_soon(r->watch);
    if (ep_voice_waits(&r->voice))
        ep_watch_soon(r->end.words);
    if (left_s > 0)
        limit = (struct timeval){
            (time_t)left_s,
            (suseconds_t)((left_s - (double)(time_t)left_s) * 1e6)};
    if (r->options.timeout_s > 0)
        event_add(r->end.limit, &limit);
    return 0;
}

void ep_run_end_close(struct run *r)
{
    struct event *timers[] = {r->end.limit, r->end.hard, r->end.check};

    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        if (timers[i] != NULL)
            event_free(timers[i]);
    }
    ep_run_rest_close(r->end.rest.rest);
    r->end.rest.rest = NULL;
    ep_watch_close(r->watch);
    ep_watch_close(r->end.words);
    r->watch = r->end.words = NULL;
}
