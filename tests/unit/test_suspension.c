/* A suspension: every event in every state, and the second that it waits. */
#include "job/suspension.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static const char *const state_names[] = {
    [JOB_SUSPENSION_NONE] = "none",       [JOB_SUSPENSION_DUE] = "due",
    [JOB_SUSPENSION_TELLING] = "telling", [JOB_SUSPENSION_LOOKED] = "looked",
    [JOB_SUSPENSION_STOPPED] = "stopped",
};

static const char *const act_names[] = {
    [JOB_SUSPENSION_NOTHING] = "",        [JOB_SUSPENSION_TELL] = ": tell",
    [JOB_SUSPENSION_LOOK] = ": look",     [JOB_SUSPENSION_STOP] = ": stop",
    [JOB_SUSPENSION_RESUME] = ": resume",
};

/* Steps, and returns the effects as words. */
static const char *step(struct job_suspension *suspension,
                        enum job_suspension_event event, uint64_t now_ns)
{
    static char text[32];
    enum job_suspension_act act =
        job_suspension_step(suspension, event, now_ns);

    snprintf(text, sizeof(text), "%s%s", state_names[suspension->state],
             act_names[act]);
    return text;
}

// clang-format off
#define FROM(state) [JOB_SUSPENSION_##state]
static const char *const wanted[JOB_SUSPENSION_STATES]
                               [JOB_SUSPENSION_EVENTS] = {
    FROM(NONE) = {
        [JOB_SUSPENSION_EARLY] = "due",
        [JOB_SUSPENSION_HEARD] = "telling: tell",
    },
    FROM(DUE) = {
        [JOB_SUSPENSION_BEGUN] = "telling: tell",
        [JOB_SUSPENSION_CONTINUED] = "none",
    },
    FROM(TELLING) = {
        [JOB_SUSPENSION_WAITS] = "looked: look",
        [JOB_SUSPENSION_TOLD] = "looked: look",
        [JOB_SUSPENSION_OVER] = "none: resume",
        [JOB_SUSPENSION_CONTINUED] = "none: resume",
    },
    FROM(LOOKED) = {
        [JOB_SUSPENSION_WAITS] = "looked: look",
        [JOB_SUSPENSION_TOLD] = "stopped: stop",
        [JOB_SUSPENSION_OVER] = "none: resume",
        [JOB_SUSPENSION_CONTINUED] = "none: resume",
    },
    FROM(STOPPED) = {
        [JOB_SUSPENSION_CONTINUED] = "none: resume",
    },
};
// clang-format on

/* An event without an effect changes nothing, not even a time. */
static void each_event_has_its_effect_in_each_state(void **state)
{
    (void)state;
    for (unsigned from = 0; from < JOB_SUSPENSION_STATES; from++) {
        for (unsigned event = 0; event < JOB_SUSPENSION_EVENTS; event++) {
            const struct job_suspension before = {
                .state = (enum job_suspension_state)from,
                .told_ns = 7 * S,
                .resumed_ns = 5 * S,
            };
            const char *want = wanted[from][event];
            struct job_suspension now = before;

            print_message("# %s, event %u\n", state_names[from], event);
            assert_string_equal(
                step(&now, (enum job_suspension_event)event, 7 * S + 1),
                want != NULL ? want : state_names[from]);
            if (want == NULL)
                assert_memory_equal(&now, &before, sizeof(now));
        }
    }
}

/* The suspension waits a second for output that does not come, and looks twice
 * all the same. */
static void a_second_later_it_stops_whatever_waits(void **state)
{
    struct job_suspension s = {.state = JOB_SUSPENSION_NONE};

    (void)state;
    assert_string_equal(step(&s, JOB_SUSPENSION_HEARD, 10 * S),
                        "telling: tell");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 10 * S + 1),
                        "looked: look");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 11 * S - 1),
                        "looked: look");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 11 * S),
                        "stopped: stop");
    assert_string_equal(step(&s, JOB_SUSPENSION_CONTINUED, 60 * S),
                        "none: resume");
    /* The next suspension has a second of its own. */
    assert_string_equal(step(&s, JOB_SUSPENSION_HEARD, 61 * S),
                        "telling: tell");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 62 * S), "looked: look");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 63 * S),
                        "stopped: stop");
}

/* A suspension that comes too early is reported when the job begins, and its
 * second begins then. */
static void one_that_was_due_begins_with_the_job(void **state)
{
    struct job_suspension s = {.state = JOB_SUSPENSION_NONE};

    (void)state;
    assert_string_equal(step(&s, JOB_SUSPENSION_EARLY, 1 * S), "due");
    assert_string_equal(step(&s, JOB_SUSPENSION_BEGUN, 9 * S), "telling: tell");
    assert_string_equal(step(&s, JOB_SUSPENSION_TOLD, 9 * S), "looked: look");
    assert_string_equal(step(&s, JOB_SUSPENSION_WAITS, 9 * S + 1),
                        "looked: look");
    assert_string_equal(step(&s, JOB_SUSPENSION_TOLD, 9 * S + 2),
                        "stopped: stop");
    assert_int_equal(s.resumed_ns, 0);
    assert_string_equal(step(&s, JOB_SUSPENSION_CONTINUED, 20 * S),
                        "none: resume");
    assert_int_equal(s.resumed_ns, 20 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_has_its_effect_in_each_state),
        cmocka_unit_test(a_second_later_it_stops_whatever_waits),
        cmocka_unit_test(one_that_was_due_begins_with_the_job),
    };

    return cmocka_run_group_tests_name("suspension", tests, NULL, NULL);
}
