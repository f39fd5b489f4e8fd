/* Pushes of clients to stdin are passed on in order, each one when the one
 * before has its place in the stream. */
#include "endpoints/client/viewers.h"

#include <stdlib.h>

#include "overlay/wire/push.h"
#include "tests/unit/viewers_lab.h"

static const char *const no_push =
    "PUSH must be for processes of the job, and come after the answer to the "
    "last PUSH";

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
    lab_job(lab, "further", 5, 4, 0);
    ep_viewers_has_stdin(lab->tap, 0, 3, true);
    ep_viewers_has_stdin(lab->tap, 5, 8, true);
}

static void pushed(const struct lab *lab, uint32_t writer)
{
    ep_viewers_pushed(lab->tap, writer);
}

static void a_push_is_answered_when_it_has_its_place(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 0, 1, "hello"), "");
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 0-1 'hello'");
    ASSERT_HEARD(&client, "");
    pushed(&lab, 2); /* a push to no process */
    ASSERT_HEARD(&client, "");
    pushed(&lab, 1);
    ASSERT_HEARD(&client, "pushed");
    assert_string_equal(lab_push(&client, 0, 0, 0, "more"), "");
    ASSERT_CALLS(&lab, "push 0/1 'more'");
    assert_string_equal(lab_push(&client, 0, 0, 0, "too early"), no_push);
    ASSERT_CALLS(&lab, "left 0/1");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "no pushers");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_push_can_have_its_place_at_once(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 5, 8, "a"), "");
    assert_string_equal(
        lab_push(&client, OV_PUSH_CLOSE | OV_PUSH_NEW, 5, 6, "b"), "");
    ASSERT_CALLS(&lab, "push 5/1 new 5-8 'a'; push 5/1 new 5-6 close 'b'");
    ASSERT_HEARD(&client, "pushed; pushed");
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 5/1");
    lab_close(&lab);
}

static void a_set_comes_in_several_messages(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    ep_viewers_has_stdin(lab.tap, 6, 8, false);
    lab_attach(&lab, &client, "further");
    /* Only the last part of the push says whether any process reads. */
    assert_string_equal(lab_push(&client, OV_PUSH_NEW | OV_PUSH_MORE, 7, 7, ""),
                        "");
    assert_string_equal(lab_push(&client, OV_PUSH_MORE, 8, 8, ""), "");
    assert_string_equal(lab_push(&client, 0, 0, 0, "text"), "");
    ASSERT_HEARD(&client, "pushed; pushed; over");
    ASSERT_CALLS(&lab, "push 5/1 new 7-7 more ''; push 5/1 8-8 more ''");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW | OV_PUSH_MORE, 5, 6, ""),
                        "");
    assert_string_equal(lab_push(&client, OV_PUSH_MORE, 7, 7, ""), "");
    assert_string_equal(lab_push(&client, 0, 0, 0, "text"), "");
    ASSERT_HEARD(&client, "pushed; pushed; pushed");
    ASSERT_CALLS(&lab, "push 5/1 new 5-6 more ''; push 5/1 7-7 more ''; "
                       "push 5/1 'text'");
    lab_leave(&client);
    lab_close(&lab);
}

/* A push without a set is for no process, which the launcher knows. */
static void who_names_nobody_pushes_to_nobody(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_push(&client, 0, 0, 0, "text"), "");
    ASSERT_CALLS(&lab, "push 5/1 'text'");
    ASSERT_HEARD(&client, "pushed");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_push_names_processes_of_the_job_in_order(void **state)
{
    /* The ranges of a set that is valid so far, and the ranges that follow. */
    static const struct {
        uint32_t good[2];
        uint16_t flags;
        uint32_t bad[2];
    } cases[] = {
        {{5, 6}, OV_PUSH_NEW, {4, 4}},
        {{5, 6}, OV_PUSH_NEW, {0, 3}},
        {{5, 6}, OV_PUSH_NEW, {4, 6}},
        {{5, 6}, OV_PUSH_NEW, {8, 9}},
        {{5, 6}, OV_PUSH_NEW, {5, UINT32_MAX}},
        {{5, 6}, OV_PUSH_NEW | OV_PUSH_MORE, {9, 9}},
        {{5, 6}, OV_PUSH_MORE, {6, 7}}, /* the second range begins inside the
                                         * first */
        {{5, 6}, OV_PUSH_MORE, {5, 5}},
        {{8, 8}, OV_PUSH_MORE, {9, 9}},
    };
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_client client;

        lab_attach(&lab, &client, "further");
        assert_string_equal(lab_push(&client, OV_PUSH_NEW | OV_PUSH_MORE,
                                     cases[i].good[0], cases[i].good[1], ""),
                            "");
        lab_calls(&lab);
        assert_string_equal(lab_push(&client, cases[i].flags, cases[i].bad[0],
                                     cases[i].bad[1], ""),
                            no_push);
        assert_memory_equal(lab_calls(&lab), "left", 4);
        lab_leave(&client);
    }
    lab_close(&lab);
}

/* Ranges after a complete set would belong to no set. */
static void ranges_go_on_only_behind_more(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 5, 5, "a"), "");
    assert_string_equal(lab_push(&client, OV_PUSH_MORE, 6, 6, ""), no_push);
    lab_leave(&client);
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_push(&client, OV_PUSH_MORE, 6, 6, ""), no_push);
    lab_leave(&client);
    lab_close(&lab);
}

static void what_is_no_push_is_refused(void **state)
{
    static uint8_t mem[LAB_PUSH_BYTES + 1];
    struct job_door push = {.kind = JOB_DOOR_PUSH};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &client, "own");
    push.rest = ov_rd_init(mem, 3);
    assert_string_equal(lab_say(&client, push), no_push);
    lab_leave(&client);
    lab_attach(&lab, &client, "own");
    push.rest = ov_rd_init(mem, sizeof(mem)); /* the message is one byte too
                                               * long */
    assert_string_equal(lab_say(&client, push), no_push);
    lab_leave(&client);
    lab_attach(&lab, &client, "own");
    push.rest = ov_rd_init(mem, sizeof(mem) - 1);
    assert_string_equal(lab_say(&client, push), "");
    lab_leave(&client);
    lab_close(&lab);
}

/* A push that names each process goes to all of them or to none. */
static void a_push_that_one_does_not_read_is_over(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &client, "own");
    client.needs_all = true;
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 1, 2, "a"), "");
    ep_viewers_has_stdin(lab.tap, 1, 1, false);
    assert_string_equal(lab_push(&client, 0, 0, 0, "b"), "");
    ASSERT_HEARD(&client, "pushed; over");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 2, 3, "c"), "");
    client.needs_all = false;
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 0, 3, "d"), "");
    ASSERT_HEARD(&client, "pushed; pushed");
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 1-2 'a'; no pushers; pushers; "
                       "push 0/1 new 2-3 'c'; push 0/1 new 0-3 'd'");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_push_that_nobody_reads_is_over(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 1, 2, "a"), "");
    ep_viewers_has_stdin(lab.tap, 1, 1, false);
    assert_string_equal(lab_push(&client, 0, 0, 0, "b"), "");
    ep_viewers_exit(lab.tap, 2, 0, (struct job_span){0});
    assert_string_equal(lab_push(&client, 0, 0, 0, "c"), "");
    ASSERT_HEARD(&client, "pushed; pushed; over");
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 1-2 'a'; push 0/1 'b'; "
                       "no pushers");
    assert_string_equal(lab_push(&client, 0, 0, 0, "d"), "");
    ASSERT_HEARD(&client, "over");
    ASSERT_CALLS(&lab, "");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 0, 3, "e"), "");
    ASSERT_HEARD(&client, "pushed");
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 0-3 'e'");
    lab_leave(&client);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/1; no pushers");
    lab_close(&lab);
}

/* One call of has_stdin may name processes of several jobs. */
static void stdin_is_that_of_one_job(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    ep_viewers_has_stdin(lab.tap, 7, 90, false);
    ep_viewers_has_stdin(lab.tap, 90, 90, false);
    lab_finish(&lab, 7, 4); /* a channel that does not exist */
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 7, 8, "a"), "");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 6, 7, "b"), "");
    ASSERT_HEARD(&client, "over; pushed");
    lab_leave(&client);
    lab_close(&lab);
}

/* A CLOSE of one client applies to all: what the other client pushes to the
 * same processes goes nowhere. */
static void an_end_is_that_of_others_too(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &one, "further");
    lab_attach(&lab, &other, "further");
    assert_string_equal(
        lab_push(&one, OV_PUSH_NEW | OV_PUSH_CLOSE, 5, 6, "last"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 6, 6, "a"), "");
    ASSERT_CALLS(&lab, "push 5/1 new 5-6 close 'last'; push 5/2 new 6-6 'a'");
    pushed(&lab, 1);
    pushed(&lab, 2); /* the push was sent later, which was not known then */
    ASSERT_HEARD(&one, "pushed");
    ASSERT_HEARD(&other, "pushed");
    assert_string_equal(lab_push(&other, 0, 0, 0, "b"), "");
    assert_string_equal(lab_push(&one, 0, 0, 0, "b"), "");
    ASSERT_HEARD(&one, "over");
    ASSERT_HEARD(&other, "over");
    ASSERT_CALLS(&lab, "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 6, 7, "c"), "");
    ASSERT_CALLS(&lab, "push 5/2 new 6-7 'c'");
    lab_leave(&one);
    lab_leave(&other);
    ASSERT_CALLS(&lab, "left 5/1; left 5/2");
    lab_close(&lab);
}

static void the_launcher_hears_of_pushers_once(void **state)
{
    struct lab_client one, other, third;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &one, "own");
    lab_attach(&lab, &other, "own");
    lab_attach(&lab, &third, "further"); /* a client of another job does not
                                          * matter here */
    assert_string_equal(lab_push(&third, OV_PUSH_NEW, 5, 5, "x"), "");
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 1, 1, "b"), "");
    assert_string_equal(lab_push(&other, 0, 0, 0, "c"), "");
    ASSERT_CALLS(&lab, "push 5/3 new 5-5 'x'; pushers; push 0/1 new 0-0 'a'; "
                       "push 0/2 new 1-1 'b'; push 0/2 'c'");
    assert_string_equal(lab_push(&one, OV_PUSH_CLOSE, 0, 0, ""), "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 0/1 close ''");
    lab_leave(&third);
    lab_leave(&other);
    ASSERT_CALLS(&lab, "left 5/3; left 0/2");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "no pushers");
    lab_leave(&one);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/1");
    lab_close(&lab);
}

/* --- a job that is behind */

static void behind(const struct lab *lab, uint32_t proc, bool is_behind)
{
    ep_viewers_behind(lab->tap, proc, is_behind);
}

static void a_job_that_is_behind_holds_pushes_back(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &one, "further");
    lab_attach(&lab, &other, "own");
    behind(&lab, 6, true);
    behind(&lab, 6, true); /* this second report of the same state changes
                            * nothing */
    behind(&lab, 8, true);
    behind(&lab, 77, true);
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 5, 5, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 0, 0, "b"), "");
    ASSERT_CALLS(&lab, "pushers; push 0/2 new 0-0 'b'");
    behind(&lab, 6, false);
    behind(&lab, 6, false);
    behind(&lab, 7, false);
    ASSERT_CALLS(&lab, "");
    ASSERT_HEARD(&one, "");
    behind(&lab, 8, false);
    ASSERT_CALLS(&lab, "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 5/1 new 5-5 'a'");
    ASSERT_HEARD(&one, "pushed");
    lab_leave(&one);
    lab_leave(&other);
    lab_close(&lab);
}

static void an_exit_lets_pushes_go_on(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &client, "further");
    behind(&lab, 5, true);
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 6, 6, "a"), "");
    ASSERT_CALLS(&lab, "");
    ep_viewers_exit(lab.tap, 5, 0, (struct job_span){0});
    ASSERT_CALLS(&lab, "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 5/1 new 6-6 'a'");
    behind(&lab, 5, true); /* late words of a node that was given up */
    pushed(&lab, 1);
    assert_string_equal(lab_push(&client, 0, 0, 0, "b"), "");
    ASSERT_CALLS(&lab, "push 5/1 'b'");
    lab_leave(&client);
    lab_close(&lab);
}

static void who_leaves_takes_along_what_waits(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &one, "own");
    lab_attach(&lab, &other, "own");
    behind(&lab, 0, true);
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 0, 0, "b"), "");
    lab_leave(&one);
    ASSERT_CALLS(&lab, "pushers; left 0/1");
    behind(&lab, 0, false);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 0/2 new 0-0 'b'");
    lab_leave(&other);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/2; no pushers");
    pushed(&lab, 2);
    lab_attach(&lab, &one, "own"); /* this client is another writer */
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "c"), "");
    ASSERT_CALLS(&lab, "pushers; push 0/3 new 0-0 'c'");
    lab_end(&lab);
    ASSERT_CALLS(&lab, "");
    assert_true(one.is_cut);
    lab_leave(&one);
    lab_begin(&lab); /* the next launch was not told yet */
    ep_viewers_has_stdin(lab.tap, 0, 0, true);
    lab_attach(&lab, &one, "own");
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "d"), "");
    ASSERT_CALLS(&lab, "pushers; push 0/4 new 0-0 'd'");
    lab_leave(&one);
    lab_close(&lab);
}

/* --- pushes that must stay whole */

static void nothing_comes_within_a_call(void **state)
{
    struct lab_client one, other, third;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &one, "own");
    lab_attach(&lab, &other, "own");
    lab_attach(&lab, &third, "further");
    one.is_more = true;
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 1, 1, "b"), "");
    assert_string_equal(lab_push(&third, OV_PUSH_NEW, 5, 5, "c"), "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 0-0 'a'; push 5/3 new 5-5 'c'");
    one.is_more = false;
    assert_string_equal(lab_push(&one, 0, 0, 0, "d"), "");
    ASSERT_CALLS(&lab, "push 0/1 'd'");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 0/2 new 1-1 'b'");
    lab_leave(&third);
    lab_leave(&other);
    lab_leave(&one);
    lab_close(&lab);
}

/* A call ends when its client leaves, and when no process reads any longer. */
static void a_call_that_is_cut_keeps_nobody_out(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_attach(&lab, &one, "own");
    lab_attach(&lab, &other, "own");
    one.is_more = true;
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 0, 0, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 1, 1, "b"), "");
    ep_viewers_has_stdin(lab.tap, 0, 0, false);
    assert_string_equal(lab_push(&one, 0, 0, 0, "c"), "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "pushers; push 0/1 new 0-0 'a'; push 0/2 new 1-1 'b'");
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 1, 1, "d"), "");
    assert_string_equal(lab_push(&other, 0, 0, 0, "e"), "");
    ASSERT_CALLS(&lab, "push 0/1 new 1-1 'd'");
    lab_leave(&one);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/1; push 0/2 'e'");
    lab_leave(&other);
    lab_close(&lab);
}

/* --- a job that has not started */

/* Which processes read stdin is known only when the job has started. */
static void a_push_waits_until_its_job_is_started(void **state)
{
    struct lab_client one, other, third;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_job_begun(&lab, "slow", 20, 4, 0);
    lab_attach(&lab, &one, "slow");
    lab_attach(&lab, &other, "slow");
    lab_attach(&lab, &third, "further");
    assert_string_equal(lab_push(&one, OV_PUSH_NEW, 20, 21, "a"), "");
    assert_string_equal(lab_push(&other, OV_PUSH_NEW, 23, 23, "b"), "");
    assert_string_equal(lab_push(&third, OV_PUSH_NEW, 5, 5, "c"), "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 5/3 new 5-5 'c'");
    ep_viewers_has_stdin(lab.tap, 20, 22, true);
    behind(&lab, 22, true);
    lab_job_started(&lab, 20);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "");
    ASSERT_HEARD(&one, "");
    behind(&lab, 22, false);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "push 20/1 new 20-21 'a'; push 20/2 new 23-23 'b'");
    ASSERT_HEARD(&one, "pushed");
    assert_string_equal(lab_push(&one, 0, 0, 0, "d"), "");
    assert_string_equal(lab_push(&other, 0, 0, 0, "e"), "");
    ASSERT_CALLS(&lab, "push 20/1 'd'");
    ASSERT_HEARD(&other, "pushed; over");
    lab_leave(&one);
    lab_leave(&other);
    lab_leave(&third);
    lab_close(&lab);
}

static void who_leaves_before_the_start_has_pushed_nothing(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_job_begun(&lab, "slow", 20, 4, 0);
    lab_attach(&lab, &client, "slow");
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 20, 21, "a"), "");
    lab_leave(&client);
    lab_job_started(&lab, 20);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 20/1");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_is_answered_when_it_has_its_place),
        cmocka_unit_test(a_push_can_have_its_place_at_once),
        cmocka_unit_test(a_set_comes_in_several_messages),
        cmocka_unit_test(who_names_nobody_pushes_to_nobody),
        cmocka_unit_test(a_push_names_processes_of_the_job_in_order),
        cmocka_unit_test(ranges_go_on_only_behind_more),
        cmocka_unit_test(what_is_no_push_is_refused),
        cmocka_unit_test(a_push_that_one_does_not_read_is_over),
        cmocka_unit_test(a_push_that_nobody_reads_is_over),
        cmocka_unit_test(stdin_is_that_of_one_job),
        cmocka_unit_test(an_end_is_that_of_others_too),
        cmocka_unit_test(the_launcher_hears_of_pushers_once),
        cmocka_unit_test(a_job_that_is_behind_holds_pushes_back),
        cmocka_unit_test(an_exit_lets_pushes_go_on),
        cmocka_unit_test(who_leaves_takes_along_what_waits),
        cmocka_unit_test(nothing_comes_within_a_call),
        cmocka_unit_test(a_call_that_is_cut_keeps_nobody_out),
        cmocka_unit_test(a_push_waits_until_its_job_is_started),
        cmocka_unit_test(who_leaves_before_the_start_has_pushed_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
