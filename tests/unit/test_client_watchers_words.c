/* Clients that watch have names, write to the console, send signals, and send
 * each other events whose contents the session does not read. */
#include "endpoints/client/watchers.h"

#include <stdlib.h>

#include "endpoints/client/watcher_impl.h"
#include "tests/unit/viewers_lab.h"

static const uint32_t pids[] = {11, 12, 13, 14};

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
    lab_turn(lab);
}

static void watch(struct lab *lab, struct lab_client *client)
{
    lab_watch(lab, client);
    assert_memory_equal(lab_heard(client), "begun own", 9);
}

/* --- names */

static const char *name(struct lab_client *client, const char *nspace,
                        uint32_t rank)
{
    struct job_door msg = {.kind = JOB_DOOR_NAME, .first = rank};

    snprintf(msg.text, sizeof(msg.text), "%s", nspace);
    return lab_say(client, msg);
}

static void a_name_is_that_of_one_tool(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &one);
    watch(&lab, &other);
    assert_string_equal(name(&one, "tool", 3), "");
    ASSERT_HEARD(&one, "named tool/3");
    assert_string_equal(name(&other, "tool", 3), "");
    ASSERT_HEARD(&other, "taken tool/3");
    /* a name that the client itself brings */
    assert_string_equal(name(&other, "tool", 4), "");
    ASSERT_HEARD(&other, "named tool/4");
    assert_string_equal(name(&other, "tools", 4),
                        "a client that watches must name its tool only once");
    lab_leave(&other);
    lab_leave(&one); /* the tool's name becomes free when the client leaves */
    watch(&lab, &other);
    assert_string_equal(name(&other, "tool", 3), "");
    ASSERT_HEARD(&other, "named tool/3");
    lab_leave(&other);
    lab_close(&lab);
}

static void names_of_the_session_are_its_own(void **state)
{
    static const char *const taken[] = {"own", "own.1", "own.77", "own-server"};
    static const char *const free_names[] = {"ow", "owns", "own-servers",
                                             "own-tool-9"};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        assert_string_equal(name(&client, taken[i], 1), "");
        assert_memory_equal(lab_heard(&client), "taken", 5);
    }
    lab_leave(&client);
    for (size_t i = 0; i < sizeof(free_names) / sizeof(free_names[0]); i++) {
        watch(&lab, &client);
        assert_string_equal(name(&client, free_names[i], 1), "");
        assert_memory_equal(lab_heard(&client), "named", 5);
        lab_leave(&client);
    }
    lab_close(&lab);
}

static void who_has_no_name_gets_one(void **state)
{
    struct lab_client one, other, third;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &one);
    watch(&lab, &other);
    watch(&lab, &third);
    assert_string_equal(name(&one, "own-tool-2", 9), "");
    ASSERT_HEARD(&one, "named own-tool-2/9");
    assert_string_equal(name(&other, "", 5), "");
    ASSERT_HEARD(&other, "named own-tool-1/0");
    assert_string_equal(name(&third, "", 5), "");
    ASSERT_HEARD(&third, "named own-tool-3/0"); /* the other name is in use */
    lab_leave(&other);
    watch(&lab, &other);
    assert_string_equal(name(&other, "", 0), "");
    /* a name that was made is never made again */
    ASSERT_HEARD(&other, "named own-tool-4/0");
    lab_leave(&one);
    lab_leave(&other);
    lab_leave(&third);
    lab_close(&lab);
}

/* --- texts */

static const char *log_piece(struct lab_client *client, uint8_t channel,
                             const void *mem, size_t len_bytes, bool is_more)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_LOG,
                                     .channel = channel,
                                     .is_more = is_more,
                                     .rest = ov_rd_init(mem, len_bytes)});
}

static const char *log_text(struct lab_client *client, uint8_t channel,
                            const char *text)
{
    return log_piece(client, channel, text, strlen(text), false);
}

static void texts_are_answered_in_their_order(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    assert_string_equal(log_text(&client, 1, "one"), "");
    assert_string_equal(log_piece(&client, 2, "tw", 2, true), "");
    ASSERT_CALLS(&lab, "log 1.1 'one'");
    assert_string_equal(log_text(&client, 2, "o"), "");
    assert_string_equal(log_text(&client, 1, ""), "");
    lab.has_no_logs = true;
    assert_string_equal(log_text(&client, 1, "four"), "");
    ASSERT_CALLS(&lab, "log 2.2 'two'; log 3.1 ''; log 4.1 'four'");
    ASSERT_HEARD(&client, "");
    ep_viewers_logged(lab.tap, 3);
    ep_viewers_logged(lab.tap, 2);
    ep_viewers_logged(lab.tap, 7); /* a text of a client that has left */
    ASSERT_HEARD(&client, "");
    ep_viewers_logged(lab.tap, 1);
    ASSERT_HEARD(&client, "logged; logged; logged; not logged");
    lab.has_no_logs = false;
    lab.logs_at_once = true;
    assert_string_equal(log_text(&client, 1, "x"), "");
    ASSERT_HEARD(&client, "logged");
    lab.logs_at_once = false;
    assert_string_equal(log_text(&client, 1, "y"), "");
    assert_string_equal(log_text(&client, 1, "z"), "");
    ep_viewers_logged(lab.tap, 6);
    ASSERT_HEARD(&client, "logged");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_text_is_its_clients_own(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &one);
    watch(&lab, &other);
    assert_string_equal(log_text(&one, 1, "a"), "");
    assert_string_equal(log_text(&other, 1, "b"), "");
    ep_viewers_logged(lab.tap, 2);
    ASSERT_HEARD(&one, "");
    ASSERT_HEARD(&other, "logged");
    lab_leave(&one);
    ep_viewers_logged(lab.tap, 1);
    lab_leave(&other);
    lab_close(&lab);
}

static void texts_have_limits(void **state)
{
    static const uint8_t piece[JOB_DOOR_REST_MAX];
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    for (unsigned more = 0; more < 2; more++) {
        assert_string_equal(log_piece(&client, 1, piece, sizeof(piece), true),
                            "");
        assert_string_equal(
            log_piece(&client, 1, piece, sizeof(piece), more > 0), "");
        if (more > 0)
            assert_string_equal(log_piece(&client, 1, "x", 1, false), "");
    }
    ASSERT_CALLS(&lab, "log 1.1 bytes 65536"); /* the other text is not shown */
    ep_viewers_logged(lab.tap, 1);
    ASSERT_HEARD(&client, "logged; not logged");
    assert_string_equal(log_text(&client, 1, "whole again"), "");
    ASSERT_CALLS(&lab, "log 3.1 'whole again'");
    for (unsigned i = 1; i < EP_WATCHER_LOGS; i++)
        assert_string_equal(log_text(&client, 1, "x"), "");
    assert_string_equal(log_text(&client, 1, "x"),
                        "a client that watches must wait for LOGGED before it "
                        "sends more texts");
    lab_leave(&client);
    for (unsigned channel = 0; channel <= 3; channel += 3) {
        watch(&lab, &client);
        assert_string_equal(log_text(&client, (uint8_t)channel, "x"),
                            "LOG must name stdout or stderr");
        lab_leave(&client);
    }
    lab_close(&lab);
}

static void a_note_is_one(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    assert_string_equal(
        lab_say(&client,
                (struct job_door){.kind = JOB_DOOR_NOTE, .text = "so it is"}),
        "");
    ASSERT_CALLS(&lab, "note so it is");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- signals */

static const char *send_signal(struct lab_client *client, int32_t signo)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_SIGNAL, .status = signo});
}

static void a_signal_is_for_processes_of_whatever_jobs(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    ep_viewers_started(lab.tap, 0, pids, 4);
    lab_job(&lab, "own.1", 10, 2, 0);
    lab_heard(&client);
    assert_string_equal(lab_range(&client, 1, 2), "");
    assert_string_equal(lab_range(&client, 4, 11), "");
    assert_string_equal(send_signal(&client, 10), "");
    ASSERT_CALLS(&lab, "signal 10 1-2 4-11");
    ASSERT_HEARD(&client, "signalled");
    /* Those ranges belonged to the signal before, so the next ranges may be
     * lower. */
    assert_string_equal(lab_range(&client, 0, 0), "");
    lab.has_no_signals = true;
    assert_string_equal(send_signal(&client, 9), "");
    ASSERT_CALLS(&lab, "signal 9 0-0");
    ASSERT_HEARD(&client, "not signalled");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_signal_is_for_those_that_run(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    lab_job(&lab, "own.1", 10, 2, 0);
    ep_viewers_started(lab.tap, 10, pids, 2);
    lab_heard(&client);
    /* a process that has not begun, and belongs to no job */
    assert_string_equal(lab_range(&client, 0, 9), "");
    assert_string_equal(send_signal(&client, 2), "");
    ASSERT_HEARD(&client, "not signalled");
    ep_viewers_exit(lab.tap, 10, 0, (struct job_span){0});
    assert_string_equal(lab_range(&client, 10, 10), "");
    /* the job of the process runs */
    assert_string_equal(send_signal(&client, 2), "");
    ASSERT_HEARD(&client, "signalled");
    ASSERT_CALLS(&lab, "signal 2 10-10");
    ep_viewers_exit(lab.tap, 11, 0, (struct job_span){0});
    assert_string_equal(lab_range(&client, 10, 11), "");
    assert_string_equal(send_signal(&client, 2), "");
    ASSERT_HEARD(&client, "not signalled");
    ASSERT_CALLS(&lab, "");
    lab_leave(&client);
    lab_close(&lab);
}

static void signals_that_make_no_sense_are_refused(void **state)
{
    static const char *const no_signal =
        "SIGNAL must name a valid signal, and come after RANGES with processes";
    static const int32_t wrong[] = {0, -1, 65};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &client);
    assert_string_equal(send_signal(&client, 2), no_signal);
    lab_leave(&client);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        watch(&lab, &client);
        assert_string_equal(lab_range(&client, 0, 1), "");
        assert_string_equal(send_signal(&client, wrong[i]), no_signal);
        lab_leave(&client);
    }
    /* the ranges 0-1, 1-1 and 2-1 */
    for (uint32_t first = 0; first < 3; first++) {
        watch(&lab, &client);
        assert_string_equal(lab_range(&client, 1, 1), "");
        assert_string_equal(
            lab_range(&client, first, 1),
            "RANGES must name processes in ascending order, in at most 65536 "
            "ranges");
        lab_leave(&client);
    }
    ASSERT_CALLS(&lab, "");
    lab_close(&lab);
}

/* --- events */

static const char *send_event(struct lab_client *client, const void *mem,
                              size_t len_bytes)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_EVENT,
                                     .rest = ov_rd_init(mem, len_bytes)});
}

static void an_event_is_for_all_others(void **state)
{
    struct lab_client clients[3], viewer;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &viewer, "own");
    for (unsigned i = 0; i < 3; i++)
        watch(&lab, &clients[i]);
    assert_string_equal(send_event(&clients[1], "hear me", 7), "");
    ASSERT_HEARD(&clients[0], "event 'hear me'");
    ASSERT_HEARD(&clients[1], "");
    ASSERT_HEARD(&clients[2], "event 'hear me'");
    ASSERT_HEARD(&viewer, "");
    for (unsigned i = 0; i < 3; i++)
        lab_leave(&clients[i]);
    lab_leave(&viewer);
    lab_close(&lab);
}

/* --- clients that do not read */

static void who_does_not_read_is_cut_off(void **state)
{
    static const uint8_t mem[JOB_DOOR_REST_MAX];
    struct lab_client one, deaf, third;
    unsigned said = 0;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &one);
    watch(&lab, &deaf);
    watch(&lab, &third);
    while (!deaf.is_cut) {
        assert_false(deaf.watcher != NULL &&
                     ep_outbox_bytes(deaf.watcher->box) > 1 << 20);
        assert_string_equal(send_event(&one, mem, sizeof(mem)), "");
        ASSERT_HEARD(&third, "event ''"); /* the event arrives because the loop
                                           * was turned */
        assert_true(++said < 200);
    }
    assert_true(said > 32);
    assert_string_equal(deaf.why,
                        "this client does not read what it is sent, and is "
                        "disconnected");
    ASSERT_CALLS(&lab, "note a client that watches does not read what it is "
                       "sent, and was disconnected");
    assert_string_equal(send_event(&one, "x", 1), "");
    ASSERT_HEARD(&third, "event 'x'");
    lab_leave(&one);
    lab_leave(&deaf);
    lab_leave(&third);
    lab_close(&lab);
}

/* Clients have time to read at the end of a run. */
static void a_flush_waits_for_those_that_read(void **state)
{
    static const uint8_t mem[JOB_DOOR_REST_MAX];
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    watch(&lab, &one);
    watch(&lab, &other);
    while (ep_watchers_are_told(ep_viewers_watchers(lab.all)))
        assert_string_equal(send_event(&one, mem, sizeof(mem)), "");
    assert_true(ep_viewers_flush(lab.tap));
    ASSERT_CALLS(&lab, "");
    lab_heard(&other);
    ASSERT_CALLS(&lab, "flushed");
    lab_leave(&other);
    watch(&lab, &other);
    while (ep_watchers_are_told(ep_viewers_watchers(lab.all)))
        assert_string_equal(send_event(&one, mem, sizeof(mem)), "");
    assert_true(ep_viewers_flush(lab.tap));
    lab_leave(&other);
    ASSERT_CALLS(&lab, "flushed");
    lab_leave(&one);
    lab_close(&lab);
}

static void what_is_of_a_job_is_refused(void **state)
{
    static const uint8_t kinds[] = {JOB_DOOR_WHERE, JOB_DOOR_PULL,
                                    JOB_DOOR_TAKEN};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    for (size_t i = 0; i < sizeof(kinds); i++) {
        watch(&lab, &client);
        assert_string_equal(
            lab_say(&client, (struct job_door){.kind = kinds[i]}),
            "a client that watches must not send requests about a single job");
        lab_leave(&client);
    }
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_that_of_one_tool),
        cmocka_unit_test(names_of_the_session_are_its_own),
        cmocka_unit_test(who_has_no_name_gets_one),
        cmocka_unit_test(texts_are_answered_in_their_order),
        cmocka_unit_test(a_text_is_its_clients_own),
        cmocka_unit_test(texts_have_limits),
        cmocka_unit_test(a_note_is_one),
        cmocka_unit_test(a_signal_is_for_processes_of_whatever_jobs),
        cmocka_unit_test(a_signal_is_for_those_that_run),
        cmocka_unit_test(signals_that_make_no_sense_are_refused),
        cmocka_unit_test(an_event_is_for_all_others),
        cmocka_unit_test(who_does_not_read_is_cut_off),
        cmocka_unit_test(a_flush_waits_for_those_that_read),
        cmocka_unit_test(what_is_of_a_job_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
