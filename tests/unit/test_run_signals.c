/* Signals to a launcher: this process sends them to itself. */
#include "config.h"

#include "endpoints/run/signals.h"

#include "tests/unit/rig.h"

#include <signal.h>
#include <stdio.h>

static const int signos[] = {SIGINT,  SIGTERM, SIGHUP, SIGTSTP,
                             SIGCONT, SIGUSR1, SIGUSR2};

enum { SIGNALS = sizeof(signos) / sizeof(signos[0]) };

struct fixture {
    struct event_base *base;
    struct run_signals *signals;
    unsigned heard;
    char said[64]; /* the last signal that was reported */
};

static void on_interrupt(void *arg, int signo, uint32_t nth)
{
    struct fixture *fx = arg;

    fx->heard++;
    snprintf(fx->said, sizeof(fx->said), "%s, interrupt %u",
             signo == SIGINT    ? "int"
             : signo == SIGTERM ? "term"
                                : "other",
             nth);
}

static void on_stop(void *arg)
{
    struct fixture *fx = arg;

    fx->heard++;
    snprintf(fx->said, sizeof(fx->said), "stop");
}

static void on_continue(void *arg)
{
    struct fixture *fx = arg;

    fx->heard++;
    snprintf(fx->said, sizeof(fx->said), "continue");
}

static void on_other(void *arg, int signo)
{
    struct fixture *fx = arg;

    fx->heard++;
    snprintf(fx->said, sizeof(fx->said), "other %s",
             signo == SIGUSR1   ? "usr1"
             : signo == SIGUSR2 ? "usr2"
                                : "?");
}

/* Sets all signals as at the start of a program. Pending ones are dropped. */
static void reset_signals(void)
{
    sigset_t all;

    sigemptyset(&all);
    for (size_t i = 0; i < SIGNALS; i++) {
        signal(signos[i], SIG_IGN);
        sigaddset(&all, signos[i]);
    }
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        signal(signos[i], SIG_DFL);
}

static void open_signals(struct fixture *fx)
{
    static const struct run_signal_events events = {
        .on_interrupt = on_interrupt,
        .on_stop = on_stop,
        .on_continue = on_continue,
        .on_other = on_other,
    };

    assert_int_equal(ep_run_signals_open(fx->base, &events, fx, &fx->signals),
                     0);
}

static int enter(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    if (fx == NULL)
        return -1;
    *state = fx;
    reset_signals();
    fx->base = event_base_new();
    return fx->base == NULL ? -1 : 0;
}

static int leave(void **state)
{
    struct fixture *fx = *state;

    ep_run_signals_close(fx->signals);
    event_base_free(fx->base);
    free(fx);
    reset_signals();
    return 0;
}

static const char *hear(struct fixture *fx, int signo)
{
    unsigned heard = fx->heard;

    raise(signo);
    rig_run_until(fx->base, &fx->heard, heard + 1);
    assert_int_equal(fx->heard, heard + 1);
    return fx->said;
}

/* SIGHUP interrupts like SIGTERM does; they count together. */
static void each_signal_is_heard_as_what_it_means(void **state)
{
    struct fixture *fx = *state;

    open_signals(fx);
    assert_int_equal(ep_run_signals_interrupts(fx->signals), 0);
    assert_string_equal(hear(fx, SIGINT), "int, interrupt 1");
    assert_string_equal(hear(fx, SIGUSR1), "other usr1");
    assert_string_equal(hear(fx, SIGTERM), "term, interrupt 2");
    assert_string_equal(hear(fx, SIGHUP), "term, interrupt 3");
    assert_string_equal(hear(fx, SIGTSTP), "stop");
    assert_string_equal(hear(fx, SIGCONT), "continue");
    assert_string_equal(hear(fx, SIGUSR2), "other usr2");
    assert_int_equal(ep_run_signals_interrupts(fx->signals), 3);
}

/* SIGUSR1 comes after it, and is the only one. */
static void what_was_ignored_stays_ignored(void **state)
{
    struct fixture *fx = *state;

    signal(SIGHUP, SIG_IGN);
    open_signals(fx);
    raise(SIGHUP);
    assert_string_equal(hear(fx, SIGUSR1), "other usr1");
    assert_int_equal(ep_run_signals_interrupts(fx->signals), 0);
}

/* Each of these signals would end or stop this process, or be reported. */
static void after_the_close_they_change_nothing(void **state)
{
    struct fixture *fx = *state;
    sigset_t pending;

    open_signals(fx);
    ep_run_signals_close(fx->signals);
    fx->signals = NULL;
    for (size_t i = 0; i < SIGNALS; i++)
        raise(signos[i]);
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
    assert_int_equal(fx->heard, 0);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGTERM), 1);
}

/* A launcher that was not opened has no means to receive signals. */
static void a_close_without_an_open_blocks_them_too(void **state)
{
    (void)state;
    ep_run_signals_close(NULL);
    raise(SIGTERM);
    raise(SIGTSTP);
}

#define SIGNALS_TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIGNALS_TEST(each_signal_is_heard_as_what_it_means),
        SIGNALS_TEST(what_was_ignored_stays_ignored),
        SIGNALS_TEST(after_the_close_they_change_nothing),
        SIGNALS_TEST(a_close_without_an_open_blocks_them_too),
    };

    return cmocka_run_group_tests_name("run_signals", tests, NULL, NULL);
}
