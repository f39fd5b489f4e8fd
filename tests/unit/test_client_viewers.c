/* Clients find a job, ask where it is, and get a copy of its output. */
#include "endpoints/client/viewers.h"

#include <stdlib.h>

#include "tests/unit/viewers_lab.h"

/* --- clients connect */

static void who_comes_early_waits_for_the_tap(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_come(&lab, &one, "");
    lab_come(&lab, &other, "nothing");
    assert_true(one.viewer != NULL && other.viewer != NULL);
    ASSERT_HEARD(&one, "");
    lab_begin(&lab);
    ASSERT_HEARD(&one, "job own 0+4 channels 6 parts 2 push 4096");
    assert_true(other.is_cut);
    assert_string_equal(
        other.why,
        "there is no job nothing: it ended long ago, or the name is wrong");
    lab_leave(&one);
    lab_leave(&other);
    lab_close(&lab);
}

static void who_waits_can_leave_or_speak_too_early(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_come(&lab, &one, "own");
    lab_come(&lab, &other, "own");
    assert_string_equal(lab_pull(&other, LAB_BOTH),
                        "a client must wait until it has a job before it "
                        "sends requests");
    lab_leave(&one);
    lab_leave(&other);
    lab_begin(&lab);
    lab_come(&lab, &one, "own");
    assert_string_equal(lab_say(&one, (struct job_door){.kind = JOB_DOOR_STOP}),
                        "a client that attaches to a job or starts one must "
                        "not send this request");
    lab_leave(&one);
    lab_close(&lab);
}

static void a_job_that_is_not_there_is_refused(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_begin(&lab);
    lab_come(&lab, &client, "");
    assert_null(client.viewer);
    assert_string_equal(client.why, "no job is running in this session");
    lab_leave(&client);
    lab_job(&lab, "one", 5, 2, 0);
    lab_job(&lab, "two", 7, 2, 0);
    lab_come(&lab, &client, "");
    assert_null(client.viewer);
    assert_string_equal(client.why,
                        "there are several jobs, name one with --nspace:"
                        "\n  one: `prog', 2 processes on 1 host"
                        "\n  two: `prog', 2 processes on 1 host");
    assert_false(client.is_cut);
    lab_leave(&client);
    lab_come(&lab, &client, "two");
    ASSERT_HEARD(&client, "job two 7+2 channels 6 parts 1 push 4096");
    lab_leave(&client);
    lab_close(&lab);
}

/* The end of a launch disconnects the clients that look at it; clients that
 * wait stay until the next launch. */
static void the_end_of_a_launch_cuts_who_looks(void **state)
{
    struct lab_client looks, waits;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &looks, "own");
    assert_string_equal(lab_pull(&looks, LAB_BOTH), "");
    lab_calls(&lab);
    lab_end(&lab);
    assert_true(looks.is_cut);
    assert_string_equal(looks.why, "");
    ASSERT_CALLS(&lab, "");
    lab_come(&lab, &waits, "own");
    lab_begin(&lab);
    lab_end(&lab);
    assert_true(waits.is_cut);
    lab_leave(&waits);
    lab_come(&lab, &waits, "own");
    assert_false(waits.is_cut);
    lab_begin(&lab);
    ASSERT_HEARD(&waits, "job own 0+4 channels 6 parts 2 push 4096");
    lab_leave(&looks);
    lab_leave(&waits);
    lab_close(&lab);
}

/* The note is about one launch only, and not for clients that wait. */
static void who_looks_is_told_of_another_launch(void **state)
{
    struct lab_client looks, waits;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &looks, "own");
    ep_viewers_anew(lab.all);
    lab_end(&lab);
    assert_true(looks.is_cut);
    assert_string_equal(looks.why,
                        "the session is being started again: attach again");
    lab_leave(&looks);
    lab_come(&lab, &waits, "own");
    ep_viewers_anew(lab.all);
    lab_begin(&lab);
    lab_attach(&lab, &looks, "own");
    lab_end(&lab);
    assert_string_equal(looks.why,
                        "the session is being started again: attach again");
    lab_begin(&lab);
    lab_leave(&looks);
    lab_attach(&lab, &looks, "own");
    lab_end(&lab);
    assert_true(looks.is_cut);
    assert_string_equal(looks.why, "");
    lab_leave(&waits);
    lab_leave(&looks);
    lab_close(&lab);
}

/* No client is told anything, and none wants anything. */
static void without_a_door_there_is_nobody(void **state)
{
    const uint32_t pid = 1;

    (void)state;
    ep_viewers_started(NULL, 0, &pid, 1);
    ep_viewers_has_stdin(NULL, 0, 0, true);
    ep_viewers_behind(NULL, 0, true);
    ep_viewers_pushed(NULL, 1);
    ep_viewers_logged(NULL, 1);
    ep_viewers_took_back(NULL);
    ep_viewers_again(NULL);
    ep_viewers_lost(NULL, 0, 1);
    ep_viewers_exit(NULL, 0, 0, (struct job_span){0});
    ep_viewers_job(NULL, &(struct ep_client_job){.event = EP_CLIENT_JOB_BEGUN});
    assert_true(ep_viewers_has_room(NULL, &(struct job_record){.proc = 0}));
    assert_false(ep_viewers_output(NULL, &(struct job_record){.proc = 0}));
    assert_false(ep_viewers_wants(NULL, 0, 1));
    assert_false(ep_viewers_redirects(NULL, 0, 1));
    assert_false(ep_viewers_gives_back(NULL, 0, 1));
    assert_false(ep_viewers_replays(NULL));
    assert_false(ep_viewers_flush(NULL));
    ep_viewers_free(NULL);
}

/* --- where the job is */

static const char *ask_where(struct lab_client *client, uint32_t part)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_WHERE, .parts = part});
}

/* Returns how many parts the client is told, from this one on, in order. */
static uint32_t count_parts(struct lab_client *client, uint32_t first)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg;
    uint32_t count = 0;

    while ((msg = lab_next(client, mem)).kind != 0) {
        assert_int_equal(msg.kind, JOB_DOOR_PART);
        assert_int_equal(msg.parts, first + count);
        assert_int_equal(msg.first, first + count);
        assert_int_equal(msg.count, 1);
        count++;
    }
    return count;
}

static void parts_are_told_a_window_at_a_time(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.size = lab.parts = 130;
    lab.each = 1;
    lab_begin(&lab);
    lab_attach(&lab, &client, "");
    for (uint32_t first = 0; first < 130; first += 64) {
        assert_string_equal(ask_where(&client, first), "");
        assert_int_equal(count_parts(&client, first),
                         first + 64 <= 130 ? 64 : 130 - first);
    }
    assert_string_equal(ask_where(&client, 130), "");
    assert_string_equal(ask_where(&client, UINT32_MAX), "");
    ASSERT_HEARD(&client, "");
    assert_string_equal(ask_where(&client, 129), "");
    ASSERT_HEARD(&client, "part 129 129+1 h129");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    assert_string_equal(ask_where(&client, 0),
                        "a client must send WHERE before PULL, and read the "
                        "answer to the last WHERE first");
    lab_leave(&client);
    lab_close(&lab);
}

static void parts_of_a_further_job_have_its_numbers(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_job(&lab, "further", 9, 2, 0);
    lab_attach(&lab, &client, "further");
    assert_string_equal(ask_where(&client, 0), "");
    ASSERT_HEARD(&client, "part 0 9+2 h0");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- what clients pull */

static const char *const no_ranges =
    "RANGES must name processes of the job, in ascending order, and come "
    "before PULL";

static void ranges_ascend_and_lie_in_the_job(void **state)
{
    static const struct {
        uint32_t good[2], bad[2];
    } cases[] = {
        {{6, 7}, {7, 8}},          {{6, 7}, {5, 5}}, {{6, 7}, {8, 9}},
        {{6, 7}, {9, UINT32_MAX}}, {{5, 5}, {7, 6}}, {{5, 5}, {4, 6}},
        {{5, 8}, {UINT32_MAX, 0}}, {{8, 8}, {0, 0}},
    };
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_job(&lab, "further", 5, 4, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_client client;

        lab_attach(&lab, &client, "further");
        assert_string_equal(
            lab_range(&client, cases[i].good[0], cases[i].good[1]), "");
        assert_string_equal(
            lab_range(&client, cases[i].bad[0], cases[i].bad[1]), no_ranges);
        lab_leave(&client);
    }
    lab_close(&lab);
}

static void a_client_pulls_once(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    assert_string_equal(lab_range(&client, 0, 0), no_ranges);
    lab_leave(&client);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "a client must send PULL "
                                                     "only once");
    lab_leave(&client);
    lab_close(&lab);
}

static void write_to_all(struct lab *lab)
{
    for (uint32_t proc = 5; proc < 9; proc++) {
        lab_write(lab, proc, 1, "out");
        lab_write(lab, proc, 2, "err");
        lab_write(lab, proc, 3, "diag");
    }
    lab_write(lab, 4, 1, "of nobody");
    lab_write(lab, 9, 1, "of nobody");
    lab_write(lab, 5, 0, "of no channel");
    lab_write(lab, 5, 4, "of no channel");
}

static void a_pull_is_for_what_was_named(void **state)
{
    struct lab_client all, some, errors, none;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_begin(&lab);
    lab_job(&lab, "further", 5, 4, 0);
    lab_attach(&lab, &all, "");
    lab_attach(&lab, &some, "further");
    lab_attach(&lab, &errors, "further");
    lab_attach(&lab, &none, "further");
    assert_string_equal(lab_range(&some, 5, 5), "");
    assert_string_equal(lab_range(&some, 7, 8), "");
    write_to_all(&lab); /* the client has not attached yet */
    assert_string_equal(lab_pull(&all, UINT8_MAX), "");
    assert_string_equal(lab_pull(&some, LAB_BOTH), "");
    assert_string_equal(lab_pull(&errors, 4), "");
    /* the job does not have this channel */
    assert_string_equal(lab_pull(&none, 8), "");
    write_to_all(&lab);
    ASSERT_HEARD(&all, "pulled; 5.1 'out'; 5.2 'err'; 6.1 'out'; 6.2 'err'; "
                       "7.1 'out'; 7.2 'err'; 8.1 'out'; 8.2 'err'");
    ASSERT_HEARD(&some, "pulled; 5.1 'out'; 5.2 'err'; 7.1 'out'; 7.2 'err'; "
                        "8.1 'out'; 8.2 'err'");
    ASSERT_HEARD(&errors, "pulled; 5.2 'err'; 6.2 'err'; 7.2 'err'; 8.2 'err'");
    ASSERT_HEARD(&none, "pulled");
    lab_leave(&all);
    lab_leave(&some);
    lab_leave(&errors);
    lab_leave(&none);
    lab_close(&lab);
}

/* The launcher makes nodes send the output for which wants() is true. */
static void only_what_is_pulled_is_wanted(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_job(&lab, "further", 5, 4, 0);
    lab_attach(&lab, &client, "further");
    assert_string_equal(lab_range(&client, 6, 7), "");
    assert_false(ep_viewers_wants(lab.tap, 6, 1));
    assert_string_equal(lab_pull(&client, 2), "");
    ASSERT_CALLS(&lab, "wanted");
    for (uint32_t proc = 0; proc < 12; proc++) {
        assert_int_equal(ep_viewers_wants(lab.tap, proc, 1),
                         proc == 6 || proc == 7);
        assert_false(ep_viewers_wants(lab.tap, proc, 2));
    }
    lab_leave(&client);
    assert_false(ep_viewers_wants(lab.tap, 6, 1));
    lab_close(&lab);
}

/* Lengths just below and above the size of a message, and a record of many
 * messages. */
static void large_records_come_in_pieces(void **state)
{
    static const uint32_t lens[] = {65535, 65536, 65537, 131072, 200000};
    static uint8_t bytes[200000];
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    struct lab lab;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 9));
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    ASSERT_HEARD(&client, "pulled");
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        const bool is_end = i == 4;
        uint32_t at = 0;

        lab_put(&lab, 2, 1, bytes, lens[i], is_end);
        while (at < lens[i]) {
            struct job_door msg = lab_next(&client, mem);
            uint32_t len = (uint32_t)ov_rd_left(&msg.rest);

            assert_true(msg.kind == JOB_DOOR_OUTPUT && len > 0);
            assert_true(msg.first == 2 && msg.channel == 1);
            assert_memory_equal(msg.rest.at, bytes + at, len);
            at += len;
            assert_int_equal(msg.is_end, is_end && at == lens[i]);
        }
        assert_int_equal(at, lens[i]);
        ASSERT_HEARD(&client, "");
    }
    lab_leave(&client);
    lab_close(&lab);
}

/* --- ends of channels */

static void an_end_is_told_once(void **state)
{
    struct lab_client early, late;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &early, "own");
    lab_attach(&lab, &late, "own");
    assert_string_equal(lab_pull(&early, LAB_BOTH), "");
    lab_put(&lab, 1, 1, "bye", 3, true);
    lab_finish(&lab, 1, 1);               /* a second end */
    lab_put(&lab, 1, 1, "more", 4, true); /* the end of a channel of a lost
                                           * node, for example */
    lab_finish(&lab, 3, 2);
    ASSERT_HEARD(&early, "pulled; 1.1 'bye' end; 1.1 'more'; 3.2 end");
    assert_string_equal(lab_range(&late, 1, 2), "");
    assert_string_equal(lab_pull(&late, LAB_BOTH), "");
    ASSERT_HEARD(&late, "pulled; 1.1 end");
    lab_finish(&lab, 1, 2);
    ASSERT_HEARD(&early, "1.2 end");
    ASSERT_HEARD(&late, "1.2 end");
    lab_leave(&early);
    lab_leave(&late);
    lab_close(&lab);
}

/* Output may come after the exit. */
static void an_exit_ends_no_channel(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    ep_viewers_exit(lab.tap, 1, 0, (struct job_span){0});
    /* a process that belongs to no job */
    ep_viewers_exit(lab.tap, 77, 0, (struct job_span){0});
    ASSERT_HEARD(&client, "pulled");
    lab_put(&lab, 1, 1, "last", 4, true);
    lab_finish(&lab, 1, 2);
    ASSERT_HEARD(&client, "1.1 'last' end; 1.2 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- jobs that are over */

static void a_job_that_is_over_is_there_for_who_looks(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_begin(&lab);
    lab_job(&lab, "kept", 5, 2, 100);
    lab_job(&lab, "short", 7, 1, 0);
    lab_attach(&lab, &one, "short");
    lab_job_ended(&lab, 5);
    lab_job_ended(&lab, 7); /* none of its output is kept */
    lab_job_ended(&lab, 99);
    lab_come(&lab, &other, "short");
    assert_null(other.viewer);
    lab_leave(&other);
    lab_come(&lab, &other, "");
    assert_string_equal(other.why, "no job is running in this session");
    lab_leave(&other);
    lab_attach(&lab, &other,
               "kept"); /* the job can still be found by its name */
    lab_job_forgotten(&lab, 5);
    lab_write(&lab, 7, 1, "late");
    lab_finish(&lab, 6, 1);
    lab_finish(&lab, 6, 2);
    assert_string_equal(lab_pull(&other, LAB_BOTH), "");
    ASSERT_HEARD(&other, "pulled; 6.1 end; 6.2 end");
    assert_string_equal(lab_pull(&one, LAB_BOTH), "");
    lab_finish(&lab, 7, 1);
    ASSERT_HEARD(&one, "pulled; 7.1 end");
    lab_leave(&one);
    lab_leave(&other);
    lab_finish(&lab, 7, 1); /* the job is forgotten by now */
    lab_come(&lab, &one, "kept");
    assert_null(one.viewer);
    lab_leave(&one);
    lab_close(&lab);
}

/* A record that must be cut is cut between lines. */
static void pieces_are_whole_lines(void **state)
{
    static uint8_t bytes[400000];
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    struct lab lab;
    uint32_t at = 0;

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 99; i < 200000; i += 100)
        bytes[i] = '\n';
    lab_open(&lab);
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    ASSERT_HEARD(&client, "pulled");
    lab_put(&lab, 2, 1, bytes, sizeof(bytes), false);
    while (at < sizeof(bytes)) {
        struct job_door msg = lab_next(&client, mem);
        uint32_t len = (uint32_t)ov_rd_left(&msg.rest);

        assert_memory_equal(msg.rest.at, bytes + at, len);
        at += len;
        if (at < 200000)
            assert_int_equal(bytes[at - 1], '\n');
        else if (at < sizeof(bytes) && at - len >= 200000)
            assert_int_equal(len, JOB_DOOR_OUTPUT_MAX);
    }
    assert_int_equal(at, sizeof(bytes));
    lab_leave(&client);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_comes_early_waits_for_the_tap),
        cmocka_unit_test(who_waits_can_leave_or_speak_too_early),
        cmocka_unit_test(a_job_that_is_not_there_is_refused),
        cmocka_unit_test(the_end_of_a_launch_cuts_who_looks),
        cmocka_unit_test(who_looks_is_told_of_another_launch),
        cmocka_unit_test(without_a_door_there_is_nobody),
        cmocka_unit_test(parts_are_told_a_window_at_a_time),
        cmocka_unit_test(parts_of_a_further_job_have_its_numbers),
        cmocka_unit_test(ranges_ascend_and_lie_in_the_job),
        cmocka_unit_test(a_client_pulls_once),
        cmocka_unit_test(a_pull_is_for_what_was_named),
        cmocka_unit_test(only_what_is_pulled_is_wanted),
        cmocka_unit_test(large_records_come_in_pieces),
        cmocka_unit_test(pieces_are_whole_lines),
        cmocka_unit_test(an_end_is_told_once),
        cmocka_unit_test(an_exit_ends_no_channel),
        cmocka_unit_test(a_job_that_is_over_is_there_for_who_looks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
