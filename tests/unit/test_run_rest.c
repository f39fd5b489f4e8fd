/* The messages to the user about processes that still run, and when they
 * come. */
#include "config.h"

#include "endpoints/run/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/run/look.h"
#include "endpoints/run/orders.h"
#include "job/life.h"
#include "job/order.h"
#include "job/session.h"
#include "job/word.h"
#include "tests/unit/plan_rig.h"

enum { SIZE = 4 };

static struct trial {
    struct fixture f;
    struct event_base *base;
    struct job_life life;
    struct run_look look;
    struct job_session session;
    struct run_rest *rest;
    struct capture said;
    uint16_t ticket; /* the ticket of the last order */
    unsigned orders, done;
} t;

/* Replaces the function of orders.c. */
void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order)
{
    (void)orders;
    t.ticket = order->ticket;
    t.orders++;
}

static int open_trial(void **state)
{
    const struct run_rest_cfg cfg = {.base = t.base = event_base_new(),
                                     .plan = &t.f.plan,
                                     .life = &t.life,
                                     .look = &t.look,
                                     .session = &t.session};

    (void)state;
    t = (struct trial){.base = cfg.base};
    open_fixture(&t.f, "n[1-2]:2");
    t.f.options.apps[0].procs = SIZE;
    assert_int_equal(ep_run_plan_nodes(&t.f.plan, &t.f.most), 0);
    assert_int_equal(job_life_open(&t.life, &t.f.job), 0);
    for (uint32_t place = 1; place <= t.f.job.nodes; place++)
        job_life_step(&t.life, &(struct job_life_event){
                                   .kind = JOB_LIFE_NODE_STARTED,
                                   .node = job_node_at(&t.f.job, place)});
    (void)job_session_step(&t.session, JOB_SESSION_BEGUN, 0);
    assert_true(job_session_goes_on(&t.session));
    return ep_run_rest_open(&cfg, &t.rest);
}

static int close_trial(void **state)
{
    (void)state;
    ep_run_rest_close(t.rest);
    ep_run_look_fini(&t.look);
    job_life_close(&t.life);
    close_fixture(&t.f);
    event_base_free(t.base);
    return 0;
}

static void then(void *arg)
{
    (void)arg;
    t.done++;
}

static void tell(const char *words, bool has_end)
{
    const struct run_rest_words all = {
        .rest = words, .none = "none", .then = has_end ? then : NULL};

    ep_run_rest_tell(t.rest, NULL, &all);
}

static void answer(void)
{
    const struct job_word word = {.kind = JOB_WORD_DOING,
                                  .ticket = t.ticket,
                                  .doing = JOB_DOING_WAITS,
                                  .ranges = {{0, SIZE - 1}},
                                  .ranges_count = 1};

    if (ep_run_look_hear(&t.look, &t.life, &word))
        ep_run_rest_heard(t.rest);
}

/* Runs the loop until nothing is due, or (`waits`) no event is pending. Returns
 * the messages. */
static const char *said(bool waits)
{
    capture_begin(&t.said);
    event_base_loop(t.base, waits ? 0 : EVLOOP_NONBLOCK);
    capture_end(&t.said);
    return t.said.text;
}

static void it_is_told_when_all_have_answered(void **state)
{
    (void)state;
    tell("still there", true);
    assert_int_equal(t.orders, 1);
    assert_string_equal(said(false), "");
    assert_int_equal(t.done, 0);
    answer();
    assert_string_equal(said(false), "xylem: still there: ranks 0-3 on n[1-2] "
                                     "(4 of 4), waiting\n");
    assert_int_equal(t.done, 1);
    answer();
    assert_string_equal(said(true), "");
    assert_int_equal(t.done, 1);
}

static void it_is_told_when_nobody_answers(void **state)
{
    (void)state;
    tell("still there", true);
    assert_string_equal(said(true),
                        "xylem: still there: ranks 0-3 on n[1-2] (4 of 4), no "
                        "answer from their hosts\n");
    assert_int_equal(t.done, 1);
}

static void a_second_question_replaces_the_words_alone(void **state)
{
    (void)state;
    tell("first", true);
    tell("second", false);
    assert_int_equal(t.orders, 1);
    answer();
    assert_string_equal(said(true), "xylem: second: ranks 0-3 on n[1-2] (4 of "
                                    "4), waiting\n");
    assert_int_equal(t.done, 1);
}

static void all_may_have_ended_meanwhile(void **state)
{
    (void)state;
    tell("still there", false);
    for (uint32_t rank = 0; rank < SIZE; rank++)
        job_life_step(&t.life,
                      &(struct job_life_event){.kind = JOB_LIFE_PROCESS_ENDED,
                                               .rank = rank,
                                               .at = {1, 1}});
    assert_string_equal(said(true), "xylem: none\n");
}

static void nothing_is_told_of_a_session_that_ends(void **state)
{
    (void)state;
    tell("still there", true);
    (void)job_session_step(&t.session, JOB_SESSION_ABORT, 1);
    answer();
    assert_string_equal(said(true), "");
    assert_int_equal(t.done, 1);
}

int main(void)
{
#define TRIAL(name)                                                            \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TRIAL(it_is_told_when_all_have_answered),
        TRIAL(it_is_told_when_nobody_answers),
        TRIAL(a_second_question_replaces_the_words_alone),
        TRIAL(all_may_have_ended_meanwhile),
        TRIAL(nothing_is_told_of_a_session_that_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
