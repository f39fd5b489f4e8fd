/* What the run does when the launcher receives a signal. */
#include "endpoints/run/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "endpoints/run/down.h"
#include "endpoints/run/dvm.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/rest.h"
#include "endpoints/run/signals.h"
#include "endpoints/run/status.h"
#include "endpoints/run/suspension.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { REST_S = 1 };

/* --- processes that still run */

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    const struct run_rest_words words = {
        .rest = r->end.rest.signo == SIGINT ? "still running after SIGINT"
                                            : "still running after SIGTERM"};

    (void)fd;
    (void)what;
    if (job_session_goes_on(&r->session))
        ep_run_rest_tell(r->end.rest.rest, r->orders, &words);
}

static void tell_rest(struct run *r)
{
    static const struct run_rest_words words = {
        .rest = "still running", .none = "all processes have ended"};

    if (!r->session.has_begun)
        ep_voice_say(&r->voice, "the processes do not run yet");
    else
        ep_run_rest_tell(r->end.rest.rest, r->orders, &words);
}

/* A second SIGQUIT within REST_S has its default action. */
static void on_quit(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    const uint64_t now_ns = ep_clock_ns(), before_ns = r->end.rest.quit_ns;

    (void)fd;
    (void)what;
    r->end.rest.quit_ns = now_ns;
    if (before_ns != 0 && now_ns - before_ns < REST_S * UINT64_C(1000000000)) {
        ep_run_status_close(r->status);
        r->status = NULL;
        event_del(r->end.rest.quit);
        raise(SIGQUIT);
    } else {
        tell_rest(r);
    }
}

/* Tells whether SIGQUIT asks which processes still run. It does only for a user
 * at a terminal, and only in a run with a job; otherwise its action is not
 * changed. */
static bool is_asked(const struct run *r)
{
    struct sigaction action;

    return !r->options.is_dvm &&
           (isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) &&
           sigaction(SIGQUIT, NULL, &action) == 0 &&
           action.sa_handler == SIG_DFL;
}

static int open_rest(struct run *r)
{
    r->end.rest.timer = evtimer_new(r->base, on_rest, r);
    if (r->end.rest.timer == NULL)
        return OV_ENOMEM;
    if (!is_asked(r))
        return 0;
    r->end.rest.quit = evsignal_new(r->base, SIGQUIT, on_quit, r);
    return r->end.rest.quit == NULL || event_add(r->end.rest.quit, NULL) != 0
               ? OV_ENOMEM
               : 0;
}

static void close_rest(struct run *r)
{
    if (r->end.rest.timer != NULL)
        event_free(r->end.rest.timer);
    if (r->end.rest.quit != NULL)
        event_free(r->end.rest.quit);
}

/* --- SIGINT, SIGTERM, SIGUSR1, SIGUSR2 */

static void pass_on(struct run *r, int signo)
{
    job_life_signalled(&r->own.life, signo);
    ep_run_orders_signal(r->orders, signo, NULL, 0);
}

static void on_interrupt(void *arg, int signo, uint32_t nth)
{
    static const struct timeval wait = {REST_S, 0};
    struct run *r = arg;

    if (ep_run_end_early(r, signo))
        return;
    if (r->options.is_dvm && nth == 1 && !r->end.is_ending) {
        ep_run_dvm_end(r);
    } else if (!r->options.is_dvm && nth == 1) {
        pass_on(r, signo);
        r->end.rest.signo = signo;
        evtimer_add(r->end.rest.timer, &wait);
    } else {
        ep_voice_say(&r->voice, "killing the processes; output that cannot be "
                                "written is discarded");
        ep_run_abort(r, 128 + signo);
        ep_output_give_up(r->output);
        ep_run_jobs_give_up(r);
    }
}

/* A dvm passes no signal on: each of its jobs has a launcher of its own, which
 * does. */
static void on_other(void *arg, int signo)
{
    struct run *r = arg;

    if (!r->options.is_dvm)
        pass_on(r, signo);
}

/* --- SIGTSTP
 *
 * The launcher stops its processes and then itself, so that the shell gets its
 * terminal back. */

static void on_stop(void *arg)
{
    struct run *r = arg;

    if (r->session.state == JOB_SESSION_LAUNCHING)
        ep_run_suspension_hear(r->suspension, JOB_SUSPENSION_EARLY);
    else if (job_session_goes_on(&r->session))
        ep_run_suspension_hear(r->suspension, JOB_SUSPENSION_HEARD);
}

void ep_run_interrupt_begun(struct run *r)
{
    if (job_session_goes_on(&r->session))
        ep_run_suspension_hear(r->suspension, JOB_SUSPENSION_BEGUN);
}

static void on_continue(void *arg)
{
    struct run *r = arg;

    ep_run_suspension_hear(r->suspension, JOB_SUSPENSION_CONTINUED);
    ep_run_down_wake(r->down);
    ep_run_orders_signal(r->orders, SIGCONT, NULL, 0);
}

static void on_tell(void *arg)
{
    struct run *r = arg;

    (void)ep_run_status_hold(r->status, true);
    ep_run_orders_signal(r->orders, SIGTSTP, NULL, 0);
    ep_hub_pause(r->hub, true);
}

static enum job_suspension_event on_look(void *arg)
{
    const struct run *r = arg;
    const bool is_erased = ep_run_status_hold(r->status, true);

    if (!job_session_goes_on(&r->session))
        return JOB_SUSPENSION_OVER;
    if (!is_erased || !ep_run_orders_is_empty(r->orders) ||
        ep_hub_look(r->hub, 0, 0).in_flight > 0)
        return JOB_SUSPENSION_WAITS;
    return JOB_SUSPENSION_TOLD;
}

/* kill() returns when SIGCONT has come. The loop calls on_continue() after
 * that. */
static void on_suspend(void *arg)
{
    (void)arg;
    kill(getpid(), SIGSTOP);
}

static void on_resume(void *arg)
{
    struct run *r = arg;

    ep_hub_pause(r->hub, false);
    (void)ep_run_status_hold(r->status, false);
}

/* --- opening and closing */

int ep_run_interrupt_open(struct run *r)
{
    static const struct run_signal_events heard = {
        .on_interrupt = on_interrupt,
        .on_stop = on_stop,
        .on_continue = on_continue,
        .on_other = on_other,
    };
    static const struct run_suspension_events stops = {
        .on_tell = on_tell,
        .on_look = on_look,
        .on_stop = on_suspend,
        .on_resume = on_resume,
    };

    if (open_rest(r) != 0 ||
        ep_run_suspension_open(r->base, &stops, r, &r->suspension) != 0)
        return OV_ENOMEM;
    return ep_run_signals_open(r->base, &heard, r, &r->signals);
}

void ep_run_interrupt_close(struct run *r)
{
    close_rest(r);
    ep_run_signals_close(r->signals);
    ep_run_suspension_close(r->suspension);
}
