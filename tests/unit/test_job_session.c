/* A session: every event in every state, and whole lives. */
#include "job/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CODE = 7 };

static const char *const state_names[] = {
    [JOB_SESSION_LAUNCHING] = "launching", [JOB_SESSION_RUNNING] = "running",
    [JOB_SESSION_KILLING] = "killing",     [JOB_SESSION_ENDING] = "ending",
    [JOB_SESSION_LEAVING] = "leaving",     [JOB_SESSION_OVER] = "over",
};

static const char *const act_names[] = {"kill", "hurry", "goodbye", "leave",
                                        "break"};

/* Steps the session, and returns the effects as words. */
static const char *step(struct job_session *session,
                        enum job_session_event event, int code)
{
    static char text[64];
    unsigned acts = job_session_step(session, event, code);
    int at = snprintf(text, sizeof(text), "%s", state_names[session->state]);

    for (unsigned i = 0; i < sizeof(act_names) / sizeof(act_names[0]); i++) {
        if ((acts & 1u << i) != 0)
            at +=
                snprintf(text + at, sizeof(text) - (size_t)at, "%s%s",
                         strchr(text, ':') == NULL ? ": " : " ", act_names[i]);
    }
    return text;
}

// clang-format off
#define FROM(state) [JOB_SESSION_##state]
#define ENDS \
    [JOB_SESSION_GONE] = "over: leave", \
    [JOB_SESSION_LATE] = "over: leave"
#define IS_DONE [JOB_SESSION_DONE] = "leaving: hurry goodbye"
static const char *const wanted[JOB_SESSION_STATES][JOB_SESSION_EVENTS] = {
    FROM(LAUNCHING) = {
        [JOB_SESSION_BEGUN] = "running",
        [JOB_SESSION_ABORT] = "over: leave",
        ENDS,
    },
    FROM(RUNNING) = {
        [JOB_SESSION_KILL] = "killing: kill",
        [JOB_SESSION_ABORT] = "ending: kill hurry",
        IS_DONE,
        ENDS,
    },
    FROM(KILLING) = {
        [JOB_SESSION_ABORT] = "ending: hurry",
        IS_DONE,
        ENDS,
    },
    FROM(ENDING) = {
        IS_DONE,
        ENDS,
    },
    FROM(LEAVING) = {
        ENDS,
    },
    FROM(OVER) = {
        [JOB_SESSION_LATE] = "over: break",
    },
};
// clang-format on

/* An event without an effect changes nothing, not even the code. */
static void each_event_has_its_effect_in_each_state(void **state)
{
    (void)state;
    for (unsigned from = 0; from < JOB_SESSION_STATES; from++) {
        for (unsigned event = 0; event < JOB_SESSION_EVENTS; event++) {
            const struct job_session before = {
                .state = (enum job_session_state)from,
                .code = -1,
                .has_begun = from != JOB_SESSION_LAUNCHING,
            };
            const char *want = wanted[from][event];
            struct job_session now = before;

            print_message("# %s, event %u\n", state_names[from], event);
            assert_string_equal(step(&now, (enum job_session_event)event, CODE),
                                want != NULL ? want : state_names[from]);
            assert_int_equal(now.code,
                             want != NULL && event == JOB_SESSION_ABORT ? CODE
                                                                        : -1);
            assert_int_equal(now.has_begun,
                             before.has_begun || event == JOB_SESSION_BEGUN);
        }
    }
}

static void one_that_ends_well(void **state)
{
    struct job_session s = JOB_SESSION_INIT;

    (void)state;
    assert_false(job_session_runs(&s));
    step(&s, JOB_SESSION_BEGUN, 0);
    assert_true(job_session_goes_on(&s));
    step(&s, JOB_SESSION_DONE, 0);
    assert_false(job_session_runs(&s));
    step(&s, JOB_SESSION_ABORT,
         CODE); /* a failure after the end changes nothing */
    step(&s, JOB_SESSION_GONE, 0);
    assert_int_equal(s.state, JOB_SESSION_OVER);
    assert_int_equal(s.code, -1); /* the code is that of its processes */
    assert_true(s.has_begun);
}

static void the_first_reason_counts(void **state)
{
    struct job_session s = JOB_SESSION_INIT;

    (void)state;
    step(&s, JOB_SESSION_BEGUN, 0);
    step(&s, JOB_SESSION_KILL, 0);
    assert_true(
        job_session_goes_on(&s)); /* the processes still decide the code */
    step(&s, JOB_SESSION_ABORT, CODE);
    step(&s, JOB_SESSION_ABORT, CODE + 1);
    assert_true(job_session_runs(&s));
    assert_false(job_session_goes_on(&s));
    assert_int_equal(s.code, CODE);
}

static void one_that_never_begins(void **state)
{
    struct job_session s = JOB_SESSION_INIT;

    (void)state;
    step(&s, JOB_SESSION_ABORT, CODE);
    step(&s, JOB_SESSION_BEGUN, 0); /* the last node has come after all */
    assert_int_equal(s.state, JOB_SESSION_OVER);
    assert_int_equal(s.code, CODE);
    assert_false(s.has_begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_has_its_effect_in_each_state),
        cmocka_unit_test(one_that_ends_well),
        cmocka_unit_test(the_first_reason_counts),
        cmocka_unit_test(one_that_never_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
