/* Clients that watch are told about every job: its stage, and what its
 * processes are. */
#include "endpoints/client/watchers.h"

#include <stdlib.h>

#include "endpoints/client/watcher_impl.h"
#include "tests/unit/viewers_lab.h"

enum {
    ENDED = EP_WATCHERS_ENDED,
    BROKEN = EP_WATCHERS_BROKEN,
    /* The table of a job of this many processes takes as much memory as all
     * ended jobs may take together. */
    LARGE = (4 << 20) / 9,
};

static const uint32_t pids[] = {11, 12, 13, 14};

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
    lab_turn(lab);
}

/* Connects a watcher that is told about the run's own job. */
static void watch(struct lab *lab, struct lab_client *client)
{
    lab_watch(lab, client);
    assert_memory_equal(lab_heard(client), "begun own 0+4 channels 14", 25);
}

static void start(struct lab *lab, uint32_t number, uint32_t count)
{
    lab->is_telling = true;
    ep_viewers_started(lab->tap, number, pids, count);
    lab->is_telling = false;
}

static void end(struct lab *lab, uint32_t number, uint32_t status)
{
    lab->is_telling = true;
    ep_viewers_exit(lab->tap, number, status, (struct job_span){0});
    lab->is_telling = false;
}

static void finish(struct lab *lab, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        lab_finish(lab, number, 1);
        lab_finish(lab, number, 2);
    }
}

static void cut(struct lab *lab, uint32_t number, uint8_t channel)
{
    lab->is_telling = true;
    ep_viewers_output(lab->tap, &(struct job_record){.proc = number,
                                                     .channel = channel,
                                                     .is_end = true,
                                                     .is_cut = true});
    lab->is_telling = false;
}

static const char *describe(struct lab_client *client, uint32_t base)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_DESCRIBE, .base = base});
}

/* Runs a job of one process that returns 0. */
static void run(struct lab *lab, const char *name, uint32_t base)
{
    lab_job(lab, name, base, 1, 0);
    start(lab, base, 1);
    finish(lab, base, 1);
    end(lab, base, 0);
    lab_job_ended(lab, base);
}

/* --- stages */

static void a_job_is_told_from_its_begin_to_its_end(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_watch(&lab, &client);
    ASSERT_HEARD(&client, "begun own 0+4 channels 14; watched");
    lab_job(&lab, "own.1", 10, 3, 64);
    ASSERT_HEARD(&client, "begun own.1 10+3 channels 14");
    start(&lab, 10, 2);
    ASSERT_HEARD(&client, "starting 10");
    start(&lab, 12, 1);
    ASSERT_HEARD(&client, "running 10");
    end(&lab, 11, 7 << 8);
    end(&lab, 10, 0);
    finish(&lab, 10, 3);
    ASSERT_HEARD(&client, "");
    end(&lab, 12, 9);
    ASSERT_HEARD(&client, "over 10, 2 failed, 11 first with 1792");
    lab_job_ended(&lab, 10);
    lab_job_forgotten(&lab, 10); /* none of its output is kept */
    ASSERT_HEARD(&client, "");
    ASSERT_CALLS(&lab, "");
    lab_leave(&client);
    lab_close(&lab);
}

static void one_that_was_skipped_comes_with_the_next(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    start(&lab, 0, 4);
    ASSERT_HEARD(&client, "starting 0; running 0");
    lab_job(&lab, "own.1", 10, 2, 0);
    start(&lab, 11, 1);
    end(&lab, 10, 127 << 8);
    finish(&lab, 10, 2);
    end(&lab, 11, 15);
    lab_job_ended(&lab, 10);
    ASSERT_HEARD(&client, "begun own.1 10+2 channels 14; starting 10; "
                          "running 10, 2 failed, 10 first with 32512; "
                          "over 10, 2 failed, 10 first with 32512");
    lab_leave(&client);
    lab_close(&lab);
}

/* Output may still wait in the launcher after a process has ended. */
static void a_job_is_over_behind_all_its_output(void **state)
{
    struct lab_client client, viewer;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &viewer, "own");
    assert_string_equal(lab_pull(&viewer, LAB_BOTH), "");
    watch(&lab, &client);
    start(&lab, 0, 4);
    lab_heard(&viewer);
    for (uint32_t rank = 0; rank < 4; rank++)
        end(&lab, rank, 0);
    finish(&lab, 0, 3);
    lab_finish(&lab, 3, 1);
    ASSERT_HEARD(&client, "starting 0; running 0");
    lab_write(&lab, 3, 2, "late");
    lab_finish(&lab, 3, 3); /* a channel that the process does not have */
    ASSERT_HEARD(&client, "");
    lab_finish(&lab, 3, 2);
    ASSERT_HEARD(&client, "over 0");
    assert_non_null(strstr(lab_heard(&viewer), "3.2 'late'; 3.2 end"));
    lab_leave(&viewer);
    lab_leave(&client);
    lab_close(&lab);
}

static void what_never_began_does_not_end(void **state)
{
    struct lab_client client, late;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    lab_job(&lab, "own.1", 10, 1, 64);
    finish(&lab, 10, 1);
    end(&lab, 10, 127 << 8);
    ASSERT_HEARD(&client, "begun own.1 10+1 channels 14");
    lab_job_ended(&lab, 10);
    ASSERT_HEARD(&client, "forgotten 10");
    lab_watch(&lab, &late);
    ASSERT_HEARD(&late, "begun own 0+4 channels 14; watched");
    lab_job_forgotten(&lab, 10);
    ASSERT_HEARD(&client, "");
    lab_leave(&late);
    lab_leave(&client);
    lab_close(&lab);
}

static void nothing_more_is_heard_after_a_flush(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    start(&lab, 0, 4);
    end(&lab, 1, 0);
    ASSERT_HEARD(&client, "starting 0; running 0");
    assert_false(ep_viewers_flush(lab.tap));
    ASSERT_HEARD(&client, "over 0");
    end(&lab, 2, 0);
    assert_false(ep_viewers_flush(lab.tap));
    ASSERT_HEARD(&client, "");
    lab_leave(&client);
    lab_close(&lab);
}

static void daemons_are_no_job(void **state)
{
    struct lab_client client, viewer;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_begin(&lab);
    lab_watch(&lab, &client);
    ASSERT_HEARD(&client, "begun own 0+4 channels 0 dvm; watched");
    lab_come(&lab, &viewer, "own");
    assert_null(viewer.viewer);
    lab_leave(&viewer);
    lab_come(&lab, &viewer, "");
    assert_string_equal(viewer.why, "no job is running in this session");
    lab_leave(&viewer);
    assert_string_equal(describe(&client, 0), "");
    ASSERT_HEARD(&client, "place 0 0+2 h0 prog; place 0 2+2 h1 prog; "
                          "exits 0: -1 -1 -1 -1; described");
    assert_false(ep_viewers_flush(lab.tap));
    ASSERT_HEARD(&client, "");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- losses */

static void a_lost_node_breaks_what_it_left_open(void **state)
{
    struct lab_client client, late;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    start(&lab, 0, 4);
    lab_finish(&lab, 2, 1);
    ep_viewers_lost(lab.tap, 2, 1);
    for (uint8_t channel = 1; channel <= 2; channel++)
        cut(&lab, 2, channel); /* one of the processes has ended before */
    end(&lab, 2, 9);
    ASSERT_HEARD(&client, "starting 0; running 0; broken 2.2");
    lab_watch(&lab, &late);
    ASSERT_HEARD(&late, "begun own 0+4 channels 14; "
                        "starting 0, 1 failed, 2 first with 9, lost; "
                        "running 0, 1 failed, 2 first with 9, lost; "
                        "broken 2.2; watched");
    lab_leave(&late);
    lab_leave(&client);
    lab_close(&lab);
}

/* Clients that watch are told of all broken channels; a client that connects
 * later is told of a limited number. */
static void so_many_broken_channels_are_known(void **state)
{
    struct lab_client client, late;
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    unsigned heard = 0;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    lab_job(&lab, "own.1", 10, BROKEN, 0);
    for (uint32_t i = 0; i < BROKEN; i++) {
        cut(&lab, 10 + i, 1);
        if (i % 2 == 0)
            cut(&lab, 10 + i, 2);
    }
    for (;;) {
        const struct job_door msg = lab_next(&client, mem);

        if (msg.kind == 0)
            break;
        heard += msg.kind == JOB_DOOR_BROKEN;
    }
    assert_int_equal(heard, BROKEN + BROKEN / 2);
    lab_watch(&lab, &late);
    heard = 0;
    for (;;) {
        const struct job_door msg = lab_next(&late, mem);

        if (msg.kind == 0)
            break;
        heard += msg.kind == JOB_DOOR_BROKEN;
    }
    assert_int_equal(heard, BROKEN);
    lab_leave(&late);
    lab_job_ended(&lab, 10); /* the job is forgotten, with all its broken
                              * channels */
    ASSERT_HEARD(&client, "forgotten 10");
    cut(&lab, 3, 1);
    ASSERT_HEARD(&client, "broken 3.1");
    lab_watch(&lab, &late);
    ASSERT_HEARD(&late, "begun own 0+4 channels 14; broken 3.1; watched");
    lab_leave(&late);
    lab_leave(&client);
    lab_close(&lab);
}

/* --- jobs that have ended */

static void the_last_are_known(void **state)
{
    struct lab_client client, viewer;
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    unsigned begun = 0;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    run(&lab, "first", 10);
    lab_heard(&client);
    for (uint32_t i = 1; i < ENDED; i++)
        run(&lab, "more", 10 + i);
    assert_null(strstr(lab_heard(&client), "forgotten"));
    lab_come(&lab, &viewer,
             "first"); /* the output of the job is no longer kept */
    assert_null(viewer.viewer);
    lab_leave(&viewer);
    assert_string_equal(describe(&client, 10), "");
    ASSERT_HEARD(&client, "place 0 10+2 h0 prog; pids 10: 11; exits 10: 0; "
                          "described");
    run(&lab, "last", 10 + ENDED);
    ASSERT_HEARD(&client, "begun last 74+1 channels 14; starting 74; "
                          "running 74; over 74; forgotten 10");
    assert_string_equal(describe(&client, 10), "");
    ASSERT_HEARD(&client, "no job");
    lab_leave(&client);
    lab_watch(&lab, &client);
    for (;;) {
        const struct job_door msg = lab_next(&client, mem);

        if (msg.kind == 0)
            break;
        begun += msg.kind == JOB_DOOR_BEGUN;
    }
    assert_int_equal(begun, 1 + ENDED);
    lab_leave(&client);
    lab_close(&lab);
}

static void large_ones_make_room(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    run(&lab, "small", 10);
    lab_job(&lab, "large", 11, LARGE, 0);
    start(&lab, 11, 1);
    lab_heard(&client);
    lab_job_ended(&lab, 11);
    ASSERT_HEARD(&client, "running 11; over 11; forgotten 10");
    run(&lab, "other", 11 + LARGE);
    assert_non_null(strstr(lab_heard(&client), "; forgotten 11"));
    lab_leave(&client);
    lab_close(&lab);
}

/* A client that still looks at the job's output keeps the job for itself
 * only. */
static void a_forgotten_job_is_not_told(void **state)
{
    struct lab_client viewer, client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_job(&lab, "own.1", 10, 1, 0);
    lab_attach(&lab, &viewer, "own.1");
    lab_job_ended(&lab, 10);
    lab_watch(&lab, &client);
    ASSERT_HEARD(&client, "begun own 0+4 channels 14; watched");
    assert_string_equal(describe(&client, 10), "");
    ASSERT_HEARD(&client, "no job");
    lab_leave(&client);
    lab_leave(&viewer);
    lab_close(&lab);
}

/* --- what its processes are */

static void a_job_is_described(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    start(&lab, 1, 2);
    end(&lab, 2, 15);
    end(&lab, 2, 0); /* a second end has no effect */
    lab_heard(&client);
    assert_string_equal(describe(&client, 0), "");
    ASSERT_HEARD(&client, "place 0 0+2 h0 prog; place 0 2+2 h1 prog; "
                          "pids 0: 0 11 12 0; exits 0: -1 -1 15 -1; described");
    for (uint32_t base = 1; base < 5; base++) {
        assert_string_equal(describe(&client, base), "");
        ASSERT_HEARD(&client, "no job");
    }
    lab_leave(&client);
    lab_close(&lab);
}

/* A report about processes that the job does not have is ignored. */
static void processes_that_it_has_not_are_not_started(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    start(&lab, 3, 2);
    start(&lab, 9, 1);
    end(&lab, 9, 0);
    ASSERT_HEARD(&client, "");
    lab_leave(&client);
    lab_close(&lab);
}

/* The job has 300,000 processes: the answer is larger than what is sent to a
 * client that does not read. */
static void a_long_answer_comes_as_it_is_read(void **state)
{
    enum { SIZE = 300000 };
    struct lab_client client;
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    uint32_t statuses = 0, at = 10;
    struct job_door msg;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_job(&lab, "own.1", 10, SIZE, 0);
    watch(&lab, &client);
    assert_string_equal(describe(&client, 10), "");
    assert_false(client.is_cut);
    assert_string_equal(describe(&client, 10),
                        "a client that watches must wait for DESCRIBED before "
                        "it sends DESCRIBE again");
    lab_leave(&client);
    watch(&lab, &client);
    assert_string_equal(describe(&client, 10), "");
    lab_turn(&lab);
    /* the rest of the answer waits */
    assert_true(client.watcher->asked.job != NULL);
    while ((msg = lab_next(&client, mem)).kind != JOB_DOOR_DESCRIBED) {
        assert_int_not_equal(msg.kind, 0);
        assert_true(ep_outbox_bytes(client.watcher->box) <
                    64 * 1024 + JOB_DOOR_BYTES_MAX);
        if (msg.kind != JOB_DOOR_EXITS)
            continue;
        assert_int_equal(msg.first, at);
        statuses += (uint32_t)ov_rd_left(&msg.rest) / JOB_DOOR_NUMBER_BYTES;
        at = 10 + statuses;
    }
    assert_false(msg.is_over);
    assert_int_equal(statuses, SIZE);
    /* The job is forgotten in the middle of an answer. */
    assert_string_equal(describe(&client, 10), "");
    lab_job_ended(&lab, 10);
    while ((msg = lab_next(&client, mem)).kind != JOB_DOOR_DESCRIBED)
        assert_int_not_equal(msg.kind, 0);
    assert_true(msg.is_over);
    ASSERT_HEARD(&client, "forgotten 10");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- beginning and end */

static void who_comes_early_hears_when_the_tap_is_open(void **state)
{
    struct lab_client client, hasty;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_watch(&lab, &client);
    lab_watch(&lab, &hasty);
    assert_string_equal(describe(&hasty, 0),
                        "a client that watches must wait for WATCHED before "
                        "it sends requests");
    ASSERT_HEARD(&client, "");
    lab_begin(&lab);
    ASSERT_HEARD(&client, "begun own 0+4 channels 14; watched");
    lab_leave(&hasty);
    /* Another launch follows: the client is told, and is disconnected. */
    ep_viewers_anew(lab.all);
    lab_watch(&lab, &hasty);
    lab_end(&lab);
    assert_true(client.is_cut && hasty.is_cut);
    assert_string_equal(client.why,
                        "the session is being started again: attach again");
    lab_leave(&client);
    lab_leave(&hasty);
    lab_watch(&lab, &client);
    lab_begin(&lab);
    ASSERT_HEARD(&client, "begun own 0+4 channels 14; watched");
    lab_end(&lab);
    assert_true(client.is_cut);
    assert_string_equal(client.why, "");
    lab_leave(&client);
    lab_close(&lab);
}

static void so_many_watch_at_a_time(void **state)
{
    static struct lab_client clients[EP_WATCHERS_MAX + 1];
    struct lab lab;

    (void)state;
    begin(&lab);
    for (unsigned i = 0; i < EP_WATCHERS_MAX; i++)
        watch(&lab, &clients[i]);
    lab_watch(&lab, &clients[EP_WATCHERS_MAX]);
    assert_null(clients[EP_WATCHERS_MAX].watcher);
    assert_string_equal(clients[EP_WATCHERS_MAX].why,
                        "the session has the maximum number of clients that "
                        "watch: try again when one has left");
    for (unsigned i = 0; i <= EP_WATCHERS_MAX; i++)
        lab_leave(&clients[i]);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_told_from_its_begin_to_its_end),
        cmocka_unit_test(one_that_was_skipped_comes_with_the_next),
        cmocka_unit_test(a_job_is_over_behind_all_its_output),
        cmocka_unit_test(what_never_began_does_not_end),
        cmocka_unit_test(nothing_more_is_heard_after_a_flush),
        cmocka_unit_test(daemons_are_no_job),
        cmocka_unit_test(a_lost_node_breaks_what_it_left_open),
        cmocka_unit_test(so_many_broken_channels_are_known),
        cmocka_unit_test(the_last_are_known),
        cmocka_unit_test(large_ones_make_room),
        cmocka_unit_test(a_forgotten_job_is_not_told),
        cmocka_unit_test(a_job_is_described),
        cmocka_unit_test(processes_that_it_has_not_are_not_started),
        cmocka_unit_test(a_long_answer_comes_as_it_is_read),
        cmocka_unit_test(who_comes_early_hears_when_the_tap_is_open),
        cmocka_unit_test(so_many_watch_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
