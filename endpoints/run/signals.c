/* Signals to the launcher.
 *
 * SIGTSTP stops the processes and then the launcher itself, so that the shell
 * gets its terminal back. A stopped launcher cannot speak, and its daemons
 * would take it for dead: they are told before, and it stops when that and the
 * signal are on their way.
 */
#include "endpoints/run/signals.h"

#include <signal.h>
#include <unistd.h>

#include "endpoints/run/dvm.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/orders.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum {
    STOP_LOOK_MS = 10,   /* between two looks whether all is on its way */
    STOP_WAIT_MS = 1000, /* a daemon that takes nothing does not prevent it */
};

static const int signos[] = {SIGINT,  SIGTERM, SIGHUP, SIGTSTP,
                             SIGCONT, SIGUSR1, SIGUSR2};

enum { SIGNALS = sizeof(signos) / sizeof(signos[0]) };

static void on_interrupt(struct run *r, int signo)
{
    r->interrupts++;
    if (r->phase == RUN_LAUNCHING) {
        r->is_quiet = true;
        ep_run_abort(r, 128 + signo);
    } else if (r->options.is_dvm && r->interrupts == 1) {
        ep_run_dvm_end(r);
    } else if (r->interrupts == 1) {
        ep_run_orders_signal(r->orders, signo, NULL, 0);
    } else {
        ep_run_say(r, "killing the processes; output that cannot be written is "
                      "given up");
        ep_run_abort(r, 128 + signo);
        ep_output_give_up(r->output);
        ep_run_jobs_give_up(r);
    }
}

/* --- stopping */

static void look_later(struct run *r)
{
    struct timeval wait = {.tv_usec = STOP_LOOK_MS * 1000};

    evtimer_add(r->stop, &wait);
}

/* A second SIGTSTP before the stop means the same one: it is left to the
 * system, which drops it with SIGCONT. Heard after that, it would stop us
 * again. */
static void hold_back(int how)
{
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(how, &stop, NULL);
}

static void end_stop(struct run *r)
{
    r->is_stopping = r->is_stop_looked = false;
    hold_back(SIG_UNBLOCK);
    evtimer_del(r->stop);
    r->resumed_ns = ep_clock_ns();
    ep_hub_pause(r->hub, false);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    uint64_t limit_ns = r->stopping_ns + STOP_WAIT_MS * UINT64_C(1000000);
    bool is_told = (ep_run_orders_is_empty(r->orders) &&
                    ep_hub_look(r->hub, 0, 0).in_flight == 0) ||
                   ep_clock_ns() >= limit_ns;
    bool is_ending = r->phase != RUN_RUNNING || r->exit_code >= 0;

    (void)fd;
    (void)what;
    /* The second look: one that was caught before they were held back is heard
     * at the latest in the round of the first. */
    if (!is_ending && !(is_told && r->is_stop_looked)) {
        r->is_stop_looked = true;
        look_later(r);
        return;
    }
    /* The call returns when SIGCONT has come; the loop hears of that next. */
    if (!is_ending)
        kill(getpid(), SIGSTOP);
    end_stop(r);
}

void ep_run_stop(struct run *r)
{
    r->is_stop_due = r->phase == RUN_LAUNCHING;
    if (r->phase != RUN_RUNNING || r->exit_code >= 0)
        return;
    if (r->is_stopping)
        return;
    hold_back(SIG_BLOCK);
    ep_run_orders_signal(r->orders, SIGTSTP, NULL, 0);
    r->is_stopping = true;
    r->stopping_ns = ep_clock_ns();
    ep_hub_pause(r->hub, true);
    look_later(r);
}

static void on_continue(struct run *r)
{
    r->is_stop_due = false;
    if (r->is_stopping)
        end_stop(r);
    if (r->input != NULL)
        ep_input_wake(r->input);
    ep_run_orders_signal(r->orders, SIGCONT, NULL, 0);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
    struct run *r = arg;

    (void)what;
    switch (signo) {
    case SIGINT:
    case SIGTERM:
        on_interrupt(r, signo);
        break;
    case SIGHUP:
        on_interrupt(r, SIGTERM);
        break;
    case SIGTSTP:
        ep_run_stop(r);
        break;
    case SIGCONT:
        on_continue(r);
        break;
    default: /* a dvm's jobs have their own launchers */
        if (!r->options.is_dvm)
            ep_run_orders_signal(r->orders, signo, NULL, 0);
        break;
    }
}

int ep_run_signals_open(struct run *r)
{
    r->stop = evtimer_new(r->base, on_stop, r);
    if (r->stop == NULL)
        return OV_ENOMEM;
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        struct event *event;

        /* What was ignored at our start stays so (nohup, `&` in a script). */
        if (sigaction(signos[i], NULL, &action) == 0 &&
            action.sa_handler == SIG_IGN)
            continue;
        event = evsignal_new(r->base, signos[i], on_signal, r);
        if (event == NULL || event_add(event, NULL))
            return OV_ENOMEM;
        r->signals[r->signals_count++] = event;
    }
    return 0;
}

/* What is left to do is bounded, and broken off it would leave processes
 * behind. */
void ep_run_signals_close(struct run *r)
{
    sigset_t late;

    sigemptyset(&late);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&late, signos[i]);
    sigprocmask(SIG_BLOCK, &late, NULL);
    while (r->signals_count > 0)
        event_free(r->signals[--r->signals_count]);
    if (r->stop != NULL)
        event_free(r->stop);
}
