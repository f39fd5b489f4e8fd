/* The answers of nodes to the question what their processes are doing. */
#include "endpoints/run/look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/orders.h"
#include "job/life.h"
#include "job/order.h"
#include "job/word.h"

enum { SIZE = 20, BASE = 100 };

#define MS UINT64_C(1000000)

static struct trial {
    struct job job;
    struct job_life life;
    uint8_t processes[SIZE];
    struct run_look look;
    struct job_order order; /* the last order */
    unsigned orders;
} t;

/* Replaces the function of orders.c. */
void ep_run_orders_give(struct run_orders *orders,
                        const struct job_order *order)
{
    (void)orders;
    t.order = *order;
    t.orders++;
}

static int open_trial(void **state)
{
    (void)state;
    memset(&t, 0, sizeof(t));
    t.job = (struct job){.base = BASE, .size = SIZE};
    t.life = (struct job_life){.job = &t.job, .processes = t.processes};
    t.processes[4] = JOB_PROCESS_ENDED;
    return 0;
}

static int close_trial(void **state)
{
    (void)state;
    ep_run_look_fini(&t.look);
    return 0;
}

static bool hear(uint16_t ticket, uint8_t doing, uint32_t first, uint32_t last)
{
    const struct job_word word = {.kind = JOB_WORD_DOING,
                                  .ticket = ticket,
                                  .doing = doing,
                                  .ranges = {{first, last}},
                                  .ranges_count = 1};

    return ep_run_look_hear(&t.look, &t.life, &word);
}

static void all_processes_of_the_job_are_asked(void **state)
{
    (void)state;
    assert_false(hear(0, JOB_DOING_WAITS, BASE, BASE));
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    assert_int_equal(t.orders, 1);
    assert_int_equal(t.order.kind, JOB_CONTROL_LOOK);
    assert_int_equal(t.order.ranges[0].first, BASE);
    assert_int_equal(t.order.ranges[0].last, BASE + SIZE - 1);
    assert_true(t.order.ticket != 0);
}

static void it_is_over_when_all_that_run_have_answered(void **state)
{
    (void)state;
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    assert_false(hear(t.order.ticket, JOB_DOING_WAITS, BASE + 5, BASE + 19));
    assert_false(hear(t.order.ticket, JOB_DOING_WAITS, BASE + 5, BASE + 19));
    assert_false(ep_run_look_is_over(&t.look, 5500 * MS));
    assert_true(hear(t.order.ticket, JOB_DOING_STOPPED, BASE, BASE + 3));
    assert_true(ep_run_look_is_over(&t.look, 5500 * MS));
    assert_int_equal(t.look.doing[3], JOB_DOING_STOPPED);
    assert_int_equal(t.look.doing[4], JOB_DOING_UNKNOWN);
    assert_int_equal(t.look.doing[5], JOB_DOING_WAITS);
    assert_int_equal(t.look.doing[19], JOB_DOING_WAITS);
}

static void it_is_over_after_two_seconds(void **state)
{
    (void)state;
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    assert_false(ep_run_look_is_over(&t.look, 6999 * MS));
    assert_true(ep_run_look_is_over(&t.look, 7000 * MS));
}

static void who_asks_meanwhile_gets_the_same_answer(void **state)
{
    (void)state;
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    ep_run_look_ask(&t.look, &t.life, NULL, 6900 * MS);
    assert_int_equal(t.orders, 1);
}

static void late_answers_do_not_count(void **state)
{
    uint16_t old;

    (void)state;
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    old = t.order.ticket;
    ep_run_look_ask(&t.look, &t.life, NULL, 7000 * MS);
    assert_int_equal(t.orders, 2);
    assert_false(hear(old, JOB_DOING_WAITS, BASE, BASE + 19));
    assert_int_equal(t.look.doing[0], JOB_DOING_UNKNOWN);
}

static void numbers_of_other_jobs_do_no_harm(void **state)
{
    (void)state;
    ep_run_look_ask(&t.look, &t.life, NULL, 5000 * MS);
    assert_false(hear(t.order.ticket, JOB_DOING_WAITS, 0, UINT32_MAX));
    assert_false(hear(t.order.ticket, JOB_DOING_WAITS, BASE + 18, UINT32_MAX));
    assert_int_equal(t.look.doing[19], JOB_DOING_WAITS);
    assert_int_equal(t.look.doing[17], JOB_DOING_UNKNOWN);
}

int main(void)
{
#define TRIAL(name)                                                            \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TRIAL(all_processes_of_the_job_are_asked),
        TRIAL(it_is_over_when_all_that_run_have_answered),
        TRIAL(it_is_over_after_two_seconds),
        TRIAL(who_asks_meanwhile_gets_the_same_answer),
        TRIAL(late_answers_do_not_count),
        TRIAL(numbers_of_other_jobs_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
