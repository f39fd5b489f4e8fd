/* What a suspension does in an event loop: looks, and changes of the signal
 * mask. */
#include "config.h"

#include "endpoints/run/suspension.h"

#include "tests/unit/rig.h"

#include <signal.h>
#include <stdio.h>

enum { LOOKS_MAX = 8 };

struct fixture {
    struct event_base *base;
    struct run_suspension *suspension;
    enum job_suspension_event looks[LOOKS_MAX]; /* the result of each look */
    unsigned looks_count;
    char said[128];
};

static bool is_held_back(void)
{
    sigset_t now;

    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGTSTP) == 1;
}

/* Records a word. In upper case: further SIGTSTP are blocked meanwhile. */
static void say(struct fixture *fx, const char *held, const char *heard)
{
    size_t at = strlen(fx->said);

    snprintf(fx->said + at, sizeof(fx->said) - at, " %s",
             is_held_back() ? held : heard);
}

static void on_tell(void *arg)
{
    say(arg, "TELL", "tell");
}

static enum job_suspension_event on_look(void *arg)
{
    struct fixture *fx = arg;

    say(fx, "LOOK", "look");
    assert_in_range(fx->looks_count, 0, LOOKS_MAX - 1);
    return fx->looks[fx->looks_count++];
}

static void on_stop(void *arg)
{
    say(arg, "STOP", "stop");
}

static void on_resume(void *arg)
{
    say(arg, "RESUME", "resume");
}

static int enter(void **state)
{
    static const struct run_suspension_events events = {
        .on_tell = on_tell,
        .on_look = on_look,
        .on_stop = on_stop,
        .on_resume = on_resume,
    };
    struct fixture *fx = calloc(1, sizeof(*fx));

    if (fx == NULL)
        return -1;
    *state = fx;
    for (unsigned i = 0; i < LOOKS_MAX; i++)
        fx->looks[i] = JOB_SUSPENSION_TOLD;
    fx->base = event_base_new();
    if (fx->base == NULL)
        return -1;
    return ep_run_suspension_open(fx->base, &events, fx, &fx->suspension);
}

static int leave(void **state)
{
    struct fixture *fx = *state;

    ep_run_suspension_close(fx->suspension);
    event_base_free(fx->base);
    free(fx);
    return 0;
}

/* Runs the loop until no timer is left. */
static void run_out(struct fixture *fx)
{
    assert_in_range(event_base_dispatch(fx->base), 0, 1);
}

static void it_stops_at_the_second_look_and_resumes(void **state)
{
    struct fixture *fx = *state;
    uint64_t start_ns = rig_now_ns();

    assert_int_equal(ep_run_suspension_resumed_ns(fx->suspension), 0);
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_HEARD);
    run_out(fx);
    assert_string_equal(fx->said, " TELL LOOK LOOK STOP resume");
    assert_true(ep_run_suspension_resumed_ns(fx->suspension) >= start_ns);
    assert_true(ep_run_suspension_resumed_ns(fx->suspension) <= rig_now_ns());
    /* When the loop reports SIGCONT afterwards, nothing changes. */
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_CONTINUED);
    assert_string_equal(fx->said, " TELL LOOK LOOK STOP resume");
}

static void it_looks_until_all_is_told(void **state)
{
    struct fixture *fx = *state;

    for (unsigned i = 0; i < 4; i++)
        fx->looks[i] = JOB_SUSPENSION_WAITS;
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_HEARD);
    run_out(fx);
    assert_string_equal(fx->said, " TELL LOOK LOOK LOOK LOOK LOOK STOP resume");
}

/* A look was due, and is not made. */
static void a_continue_that_comes_first_ends_it(void **state)
{
    struct fixture *fx = *state;

    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_HEARD);
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_CONTINUED);
    run_out(fx);
    assert_string_equal(fx->said, " TELL resume");
}

static void a_job_that_ends_is_not_stopped(void **state)
{
    struct fixture *fx = *state;

    fx->looks[1] = JOB_SUSPENSION_OVER;
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_HEARD);
    run_out(fx);
    assert_string_equal(fx->said, " TELL LOOK LOOK resume");
}

static void one_that_is_early_waits_for_the_job(void **state)
{
    struct fixture *fx = *state;

    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_BEGUN);
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_EARLY);
    run_out(fx);
    assert_string_equal(fx->said, "");
    assert_false(is_held_back());
    ep_run_suspension_hear(fx->suspension, JOB_SUSPENSION_BEGUN);
    assert_string_equal(fx->said, " TELL");
    run_out(fx);
    assert_string_equal(fx->said, " TELL LOOK LOOK STOP resume");
}

#define SUSPENSION_TEST(name)                                                  \
    cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SUSPENSION_TEST(it_stops_at_the_second_look_and_resumes),
        SUSPENSION_TEST(it_looks_until_all_is_told),
        SUSPENSION_TEST(a_continue_that_comes_first_ends_it),
        SUSPENSION_TEST(a_job_that_ends_is_not_stopped),
        SUSPENSION_TEST(one_that_is_early_waits_for_the_job),
    };

    return cmocka_run_group_tests_name("run_suspension", tests, NULL, NULL);
}
