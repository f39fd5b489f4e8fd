/* A client owns the job that it has started: it gets all output, the job waits
 * while the client takes none, gets the client's signals, and ends with the
 * client. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include <signal.h>
#include <stdlib.h>

#include "endpoints/client/viewer_impl.h"
#include "job/request.h"
#include "overlay/wire/push.h"
#include "tests/unit/rig.h"
#include "tests/unit/viewers_lab.h"

enum { SIZE = LAB_OWN_SIZE, RECORD = 32 * 1024, HOLD = 1 << 20 };

static const char *const no_signal =
    "a client can send only valid signals, and only to a job that it has "
    "started";

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab->is_dvm = true;
    lab_begin(lab);
}

static void end_job(struct lab *lab)
{
    for (uint32_t proc = LAB_BASE; proc < LAB_BASE + SIZE; proc++)
        ep_viewers_exit(lab->tap, proc, 0, (struct job_span){0});
    lab_job_ended(lab, LAB_BASE);
}

static const char *send_signal(struct lab_client *client, int signo)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_SIGNAL, .status = signo});
}

/* --- the life of the job */

/* The client asks for no output, and the nodes are asked for nothing. */
static void output_comes_from_the_first_byte(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    assert_true(ep_viewers_wants(lab.tap, 10, 1));
    assert_true(ep_viewers_wants(lab.tap, 13, 2));
    assert_true(ep_viewers_wants(lab.tap, 13, 3));
    assert_false(ep_viewers_wants(lab.tap, 13, 4));
    assert_false(ep_viewers_wants(lab.tap, 14, 1));
    assert_false(ep_viewers_replays(lab.tap));
    lab_write(&lab, 10, 1, "first");
    lab_job_started(&lab, LAB_BASE);
    lab_put(&lab, 11, 2, "last", 4, true);
    lab_write(&lab, 12, 3, "diag");
    lab_finish(&lab, 13, 1);
    ASSERT_HEARD(
        &client,
        "10.1 'first'; started; 11.2 'last' end; 12.3 'diag'; 13.1 end");
    end_job(&lab);
    ASSERT_HEARD(&client, "ended 10 of 0 failed, status 0");
    ASSERT_CALLS(&lab, "");
    lab_leave(&client);
    lab_close(&lab);
}

static void the_end_says_what_failed_first(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_job_started(&lab, LAB_BASE);
    ep_viewers_exit(lab.tap, 10, 0, (struct job_span){0});
    ep_viewers_exit(lab.tap, 12, 3 << 8, (struct job_span){0});
    ep_viewers_exit(lab.tap, 12, 7 << 8,
                    (struct job_span){0}); /* a second report changes nothing */
    ep_viewers_exit(lab.tap, 13, 9, (struct job_span){0});
    ep_viewers_exit(lab.tap, 11, 11, (struct job_span){0});
    ep_viewers_lost(lab.tap, 13, 1); /* too late to have an effect */
    ASSERT_HEARD(&client, "started");
    lab_job_ended(&lab, LAB_BASE);
    ASSERT_HEARD(&client, "ended 11 of 3 failed, status 11");
    lab_leave(&client);
    lab_close(&lab);
}

static void who_owns_is_told_of_its_own_job(void **state)
{
    struct lab_client one, other, looks;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &one);
    lab_own(&lab, &other);
    lab_attach(&lab, &looks, "own.1");
    lab_job_started(&lab, LAB_BASE);
    lab_write(&lab, 14, 1, "a");
    ASSERT_HEARD(&one, "started");
    ASSERT_HEARD(&other, "14.1 'a'");
    lab_job_ended(&lab, LAB_BASE);
    ASSERT_HEARD(&one, "ended 10 of 0 failed, status 0");
    ASSERT_HEARD(&other, "");
    ASSERT_HEARD(&looks, "");
    lab_leave(&one);
    lab_leave(&other);
    lab_leave(&looks);
    lab_close(&lab);
}

/* --- requests of the client */

static void it_asks_where_at_any_time(void **state)
{
    static const uint8_t mem[RECORD];
    const struct job_door ask = {.kind = JOB_DOOR_WHERE};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    assert_string_equal(lab_say(&client, ask), "");
    ASSERT_HEARD(&client, "part 0 10+2 h0");
    while (ep_outbox_is_empty(client.viewer->box))
        lab_put(&lab, 10, 1, mem, sizeof(mem), false);
    assert_string_equal(lab_say(&client, ask), "");
    assert_non_null(strstr(lab_heard(&client), "part 0 10+2 h0"));
    lab_leave(&client);
    lab_close(&lab);
}

static void it_may_not_do_what_those_do_who_look(void **state)
{
    static const struct {
        struct job_door msg;
        const char *why;
    } cases[] = {
        {{.kind = JOB_DOOR_PULL, .channels = 6},
         "a client must send PULL only once"},
        {{.kind = JOB_DOOR_ATTACH},
         "a client that attaches to a job or starts one must "
         "not send this request"},
        {{.kind = JOB_DOOR_SPAWN,
          .rest = {(const uint8_t *)"a", (const uint8_t *)"a" + 1, false}},
         "a client can either start one job or attach to one"},
    };
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lab_own(&lab, &client);
        assert_string_equal(lab_say(&client, cases[i].msg), cases[i].why);
        lab_leave(&client);
    }
    lab_own(&lab, &client);
    assert_string_equal(
        lab_range(&client, lab.next, lab.next),
        "RANGES must name processes of the job, in ascending order, and come "
        "before PULL");
    lab_leave(&client);
    lab_close(&lab);
}

static void its_pushes_wait_until_the_job_is_started(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.pushes_at_once = true;
    lab_own(&lab, &client);
    assert_string_equal(lab_push(&client, OV_PUSH_NEW, 10, 10, "a"), "");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "");
    ep_viewers_has_stdin(lab.tap, 10, 10, true);
    lab_job_started(&lab, LAB_BASE);
    ASSERT_CALLS(&lab, "");
    ASSERT_HEARD(&client, "started; pushed");
    ASSERT_CALLS(&lab, "push 10/1 new 10-10 'a'");
    assert_string_equal(lab_push(&client, OV_PUSH_CLOSE, 0, 0, "b"), "");
    ASSERT_HEARD(&client, "pushed");
    assert_string_equal(lab_push(&client, 0, 0, 0, "c"), "");
    ASSERT_HEARD(&client, "over");
    lab_leave(&client);
    lab_close(&lab);
}

static void its_signals_are_for_all_of_the_job(void **state)
{
    static const int bad[] = {0, -1, NSIG, INT32_MAX, INT32_MIN};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    assert_string_equal(send_signal(&client, SIGTERM), "");
    ASSERT_CALLS(&lab, "signal 15 10-13");
    ASSERT_HEARD(&client, "signalled");
    assert_string_equal(send_signal(&client, 1), "");
    assert_string_equal(send_signal(&client, NSIG - 1), "");
    ASSERT_CALLS(&lab, "signal 1 10-13; signal 64 10-13");
    end_job(&lab);
    assert_string_equal(send_signal(&client, SIGTERM),
                        ""); /* the client's job no longer exists */
    ASSERT_CALLS(&lab, "");
    ASSERT_HEARD(&client, "signalled; signalled; "
                          "ended 10 of 0 failed, status 0; signalled");
    lab_leave(&client);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        lab_own(&lab, &client);
        assert_string_equal(send_signal(&client, bad[i]), no_signal);
        lab_leave(&client);
    }
    lab_close(&lab);
}

static void who_looks_sends_no_signals(void **state)
{
    struct lab_client client, looks;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_attach(&lab, &looks, "own.1");
    assert_string_equal(send_signal(&looks, SIGTERM), no_signal);
    ASSERT_CALLS(&lab, "left 10/2");
    lab_leave(&looks);
    lab_leave(&client);
    lab_close(&lab);
}

static void others_may_look_at_its_job(void **state)
{
    struct lab_client client, looks;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_attach(&lab, &looks, "");
    assert_string_equal(lab_pull(&looks, 2), "");
    lab_write(&lab, 10, 1, "a");
    lab_write(&lab, 10, 2, "b");
    ASSERT_HEARD(&looks, "pulled; 10.1 'a'");
    ASSERT_HEARD(&client, "10.1 'a'; 10.2 'b'");
    lab_calls(&lab);
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1; signal 15 10-13");
    lab_write(&lab, 10, 1, "c");
    end_job(&lab);
    ASSERT_HEARD(&looks, "10.1 'c'");
    lab_leave(&looks);
    ASSERT_CALLS(&lab, "left 10/2");
    lab_close(&lab);
}

/* --- the client takes no output */

/* Writes output until more is kept for the client than its job may have
 * waiting. */
static uint64_t fill(struct lab *lab, const struct lab_client *client)
{
    static const uint8_t mem[RECORD];
    uint64_t bytes = 0;

    while (ep_outbox_bytes(client->viewer->box) <= HOLD) {
        lab_turn(lab);
        ASSERT_CALLS(lab, "");
        lab_put(lab, 10, 1, mem, sizeof(mem), false);
        bytes += sizeof(mem);
    }
    return bytes;
}

/* Reads this many messages, or all that there are. Returns how many bytes came;
 * none is missing. */
static uint64_t read_some(struct lab_client *client, unsigned max)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg;
    uint64_t bytes = 0;

    while (max-- > 0 && (msg = lab_next(client, mem)).kind != 0) {
        assert_int_equal(msg.kind, JOB_DOOR_OUTPUT);
        assert_int_equal(msg.dropped_bytes, 0);
        bytes += ov_rd_left(&msg.rest);
    }
    return bytes;
}

/* The output that arrives meanwhile is included. */
static void its_job_waits_until_all_is_sent(void **state)
{
    struct lab_client client, looks;
    uint64_t written = 0, read = 0;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_attach(&lab, &looks, "own.1");
    assert_string_equal(lab_pull(&looks, LAB_BOTH), "");
    lab_calls(&lab);
    for (unsigned round = 0; round < 2; round++) {
        written += fill(&lab, &client);
        ASSERT_CALLS(&lab, ""); /* not called from within the read */
        lab_turn(&lab);
        ASSERT_CALLS(&lab, "hold 10-13");
        lab_write(&lab, 10, 1, "more");
        lab_turn(&lab);
        read += read_some(&client, 30); /* the client reads only a part of the
                                         * output */
        lab_write(&lab, 10, 1, "more");
        lab_turn(&lab);
        written += 8;
        ASSERT_CALLS(&lab, "");
        read += read_some(&client, UINT32_MAX);
        ASSERT_CALLS(&lab, "go on 10-13");
    }
    assert_int_equal(read, written);
    lab_leave(&client);
    lab_leave(&looks);
    lab_close(&lab);
}

static void who_looks_holds_nothing_back(void **state)
{
    static const uint8_t mem[RECORD];
    struct lab_client client, looks;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_attach(&lab, &looks, "own.1");
    assert_string_equal(lab_pull(&looks, LAB_BOTH), "");
    lab_calls(&lab);
    while (!looks.viewer->is_behind) {
        lab_put(&lab, 10, 1, mem, sizeof(mem), false);
        (void)read_some(&client, UINT32_MAX);
    }
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "");
    lab_leave(&looks);
    lab_leave(&client);
    lab_close(&lab);
}

/* When a job goes on all the same, output beyond 64 MiB is dropped and
 * counted. */
static void what_comes_all_the_same_has_a_limit(void **state)
{
    static const uint8_t mem[RECORD];
    const uint64_t limit = UINT64_C(64) << 20;
    struct lab_client client;
    uint64_t written = 0;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    for (; !client.viewer->is_behind; written += RECORD)
        lab_put(&lab, 10, 1, mem, sizeof(mem), false);
    assert_in_range(ep_outbox_bytes(client.viewer->box), limit - 2 * RECORD,
                    limit);
    assert_true(written > limit - 2 * RECORD);
    lab_leave(&client);
    lab_close(&lab);
}

/* --- the client leaves */

static void its_job_ends_with_it(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1; signal 15 10-13");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "");
    lab_close(&lab);
}

static void a_job_that_waits_goes_on_to_end(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    fill(&lab, &client);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "hold 10-13");
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1; go on 10-13; signal 15 10-13");
    lab_close(&lab);
}

static void a_job_that_is_over_is_left_alone(void **state)
{
    struct lab_client client, looks;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.cache_bytes_of_spawned = 100;
    lab_own(&lab, &client);
    end_job(&lab);
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 10/1");
    lab_come(&lab, &looks, "own.1"); /* the output that was kept for the client
                                      * is there */
    ASSERT_HEARD(&looks,
                 "job own.1 10+4 channels 14 parts 1 push 4096; keeps 100");
    lab_job_forgotten(&lab, LAB_BASE);
    lab_leave(&looks);
    lab_close(&lab);
}

static bool is_called(const void *arg)
{
    return ((const struct lab *)arg)->calls[0] != '\0';
}

static void what_does_not_end_is_killed(void **state)
{
    const uint64_t second_ns = UINT64_C(1000000000);
    struct lab_client one, other, third;
    struct lab lab;
    uint64_t start_ns;

    (void)state;
    begin(&lab);
    lab.cache_bytes_of_spawned = 100; /* the job can be found when it is over */
    lab_own(&lab, &one);
    lab_own(&lab, &other);
    lab_own(&lab, &third);
    start_ns = rig_now_ns();
    lab_leave(&one);
    lab_leave(&other);
    ASSERT_CALLS(&lab, "left 10/1; signal 15 10-13; "
                       "left 14/2; signal 15 14-17");
    end_job(&lab);
    rig_run_until_true(lab.base, is_called, &lab);
    ASSERT_CALLS(&lab, "signal 9 14-17");
    assert_true(rig_now_ns() - start_ns >= 2 * second_ns);
    lab_leave(&third);
    lab_end(&lab); /* no process is killed now */
    ASSERT_CALLS(&lab, "left 18/3; signal 15 18-21");
    lab_turn(&lab);
    lab_close(&lab);
}

static uint64_t until_kill_ns(const struct lab *lab)
{
    struct timeval now, at;

    assert_true(event_pending(lab->all->kills, EV_TIMEOUT, &at));
    evutil_gettimeofday(&now, NULL);
    if (evutil_timercmp(&at, &now, <))
        return 0;
    evutil_timersub(&at, &now, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_usec * 1000;
}

/* Each job is killed when its time comes, and only once. */
static void jobs_are_killed_one_after_the_other(void **state)
{
    const uint64_t second_ns = UINT64_C(1000000000);
    struct lab_client one, other;
    struct ep_seen_job *job;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &one);
    lab_own(&lab, &other);
    lab_leave(&one);
    lab_leave(&other);
    lab_calls(&lab);
    job = ep_seen_of(&lab.all->seen, 14);
    job->kill_ns = rig_now_ns() + second_ns * 9 / 10;
    ep_seen_of(&lab.all->seen, 10)->kill_ns = 1;
    event_active(lab.all->kills, EV_TIMEOUT, 0);
    event_base_loop(lab.base, EVLOOP_ONCE);
    ASSERT_CALLS(&lab, "signal 9 10-13");
    assert_true(until_kill_ns(&lab) < second_ns * 95 / 100);
    job->kill_ns = 1;
    event_active(lab.all->kills, EV_TIMEOUT, 0);
    event_base_loop(lab.base, EVLOOP_ONCE);
    ASSERT_CALLS(&lab, "signal 9 14-17");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_comes_from_the_first_byte),
        cmocka_unit_test(the_end_says_what_failed_first),
        cmocka_unit_test(who_owns_is_told_of_its_own_job),
        cmocka_unit_test(it_asks_where_at_any_time),
        cmocka_unit_test(it_may_not_do_what_those_do_who_look),
        cmocka_unit_test(its_pushes_wait_until_the_job_is_started),
        cmocka_unit_test(its_signals_are_for_all_of_the_job),
        cmocka_unit_test(who_looks_sends_no_signals),
        cmocka_unit_test(others_may_look_at_its_job),
        cmocka_unit_test(its_job_waits_until_all_is_sent),
        cmocka_unit_test(who_looks_holds_nothing_back),
        cmocka_unit_test(what_comes_all_the_same_has_a_limit),
        cmocka_unit_test(its_job_ends_with_it),
        cmocka_unit_test(a_job_that_waits_goes_on_to_end),
        cmocka_unit_test(a_job_that_is_over_is_left_alone),
        cmocka_unit_test(what_does_not_end_is_killed),
        cmocka_unit_test(jobs_are_killed_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
