/* Clients that connect late get earlier output first, and all new output after
 * it. */
#include "endpoints/client/viewers.h"

#include "tests/unit/viewers_lab.h"

enum { CACHE = 1000, TICKET = 7 };

static void begin(struct lab *lab, uint32_t cache_bytes)
{
    lab_open(lab);
    lab->cache_bytes = cache_bytes;
    lab->ticket = TICKET;
    lab_begin(lab);
}

static void come(struct lab *lab, struct lab_client *client, uint32_t first,
                 uint32_t last, uint8_t channels)
{
    lab_attach(lab, client, "own");
    assert_string_equal(lab_range(client, first, last), "");
    assert_string_equal(lab_pull(client, channels), "");
}

static bool replays(const struct lab *lab)
{
    return ep_viewers_replays(lab->tap);
}

static void the_past_comes_first(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    assert_false(replays(&lab));
    come(&lab, &client, 0, 1, 2);
    ASSERT_CALLS(&lab, "wanted; replay 0-1 channels 2 bytes 1000");
    assert_true(replays(&lab));
    lab_write(&lab, 0, 1, "hidden"); /* arrives together with earlier output */
    lab_told(&lab, 0, 1);
    ASSERT_HEARD(&client, "");
    lab_told(&lab, 1, 1);
    lab_told(&lab, 0, 4);
    ASSERT_HEARD(&client, "pulled");
    lab_past(&lab, 0, 1, "old", 12, false);
    lab_past(&lab, 0, 2, "not asked for", 0, true);
    lab_write(&lab, 0, 1, "hidden");
    lab_past(&lab, 0, 1, "hidden", 0, true);
    lab_write(&lab, 0, 1, "new");
    lab_write(&lab, 1, 1, "hidden");
    lab_past(&lab, 0, 1, "of nobody", 0, false);
    ASSERT_HEARD(&client, "0.1 before 12 'old'; 0.1 'hidden'; 0.1 'new'");
    assert_true(replays(&lab));
    lab_past(&lab, 1, 1, "", 0, true);
    assert_false(replays(&lab));
    lab_past(&lab, 1, 1, "of nobody", 0, true);
    lab_write(&lab, 1, 1, "new");
    ASSERT_HEARD(&client, "1.1 'new'");
    lab_leave(&client);
    lab_close(&lab);
}

/* An answer also says that the node knows that its output is wanted. */
static void an_answer_tells_that_it_was_heard(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    come(&lab, &client, 1, 2, LAB_BOTH);
    ASSERT_CALLS(&lab, "wanted; replay 1-2 channels 6 bytes 1000");
    lab_past(&lab, 1, 1, "a", 0, true);
    lab_past(&lab, 1, 2, "", 9, true);
    ASSERT_HEARD(&client, "1.1 'a'; 1.2 before 9");
    lab_past(&lab, 2, 1, "", 0, true);
    lab_past(&lab, 2, 2, "", 0, true);
    ASSERT_HEARD(&client, "pulled");
    lab_leave(&client);
    lab_close(&lab);
}

/* The end of a channel waits until the earlier output of the channel has
 * come. */
static void an_end_comes_behind_the_past(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab_finish(&lab, 0, 1);
    come(&lab, &client, 0, 2, 2);
    ASSERT_CALLS(&lab, "wanted; replay 0-2 channels 2 bytes 1000");
    lab_told(&lab, 0, 3);
    lab_finish(&lab, 1, 1);
    ASSERT_HEARD(&client, "pulled");
    lab_past(&lab, 0, 1, "old", 0, false);
    lab_past(&lab, 0, 1, "last", 0, true);
    lab_past(&lab, 1, 1, "", 0, true);
    ASSERT_HEARD(&client, "0.1 'old'; 0.1 'last' end; 1.1 end");
    lab_past(&lab, 2, 1, "", 0, true);
    lab_finish(&lab, 2, 1);
    ASSERT_HEARD(&client, "2.1 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* The processes of a lost node are not asked, and answers of theirs are no
 * longer awaited. */
static void a_lost_node_does_not_hold_it_up(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    ep_viewers_lost(lab.tap, 1, 1);
    ep_viewers_lost(lab.tap, 77, 2); /* processes of no job */
    come(&lab, &client, 0, 3, LAB_BOTH);
    ASSERT_CALLS(&lab, "wanted; replay 0-0 2-3 channels 6 bytes 1000");
    lab_told(&lab, 0, 1);
    lab_past(&lab, 0, 1, "a", 0, true);
    lab_past(&lab, 0, 2, "b", 0, true);
    ASSERT_HEARD(&client, "0.1 'a'; 0.2 'b'");
    lab_past(&lab, 2, 1, "c", 0, false);
    lab_finish(&lab, 2, 2);
    ep_viewers_lost(lab.tap, 2, 2);
    assert_false(replays(&lab));
    ASSERT_HEARD(&client, "2.1 'c'; 2.2 end; pulled");
    for (uint32_t proc = 1; proc < 4; proc++) {
        lab_finish(&lab, proc, 1);
        lab_finish(&lab, proc, 2);
    }
    ASSERT_HEARD(&client, "1.1 end; 1.2 end; 2.1 end; 3.1 end; 3.2 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* After a node is lost, messages to the client are sent from its store, too. */
static void a_store_is_sent_when_a_node_is_lost(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab_finish(&lab, 1, 1);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_range(&client, 1, 1), "");
    assert_string_equal(
        lab_say(&client, (struct job_door){.kind = JOB_DOOR_PULL,
                                           .channels = 2,
                                           .cache_bytes = CACHE,
                                           .limit_bytes = 1 << 20}),
        "");
    ASSERT_HEARD(&client, "");
    ep_viewers_lost(lab.tap, 1, 1);
    ASSERT_HEARD(&client, "pulled; 1.1 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* The processes of the job have no stddiag channel, so none of that channel can
 * be kept. */
static void the_past_is_asked_of_the_jobs_channels(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH | 1 << 3), "");
    ASSERT_CALLS(&lab, "wanted; replay 0-3 channels 6 bytes 1000");
    lab_leave(&client);
    lab_close(&lab);
}

/* A client that was told of no earlier output would believe that it has all
 * output. */
static void who_comes_too_late_for_the_past_is_refused(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab.ticket = 0;
    lab_finish(&lab, 0, 1);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_range(&client, 0, 1), "");
    assert_string_equal(
        lab_pull(&client, LAB_BOTH),
        "the session is ending: earlier output of the job is no longer "
        "available");
    ASSERT_CALLS(&lab, "wanted; replay 0-1 channels 6 bytes 1000; left 0/1");
    assert_false(replays(&lab));
    ASSERT_HEARD(&client, "");
    lab_leave(&client);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, 8), ""); /* no channel at all */
    ASSERT_CALLS(&lab, "wanted");
    ASSERT_HEARD(&client, "pulled");
    lab_leave(&client);
    lab_close(&lab);
}

/* The earlier output of a job that is forgotten is no longer kept. */
static void nothing_was_before_of_a_job_that_is_gone(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab_job(&lab, "further", 5, 2, CACHE);
    lab_attach(&lab, &client, "further");
    for (uint32_t proc = 5; proc < 7; proc++) {
        lab_finish(&lab, proc, 1);
        lab_finish(&lab, proc, 2);
    }
    lab_job_ended(&lab, 5);
    lab_job_forgotten(&lab, 5);
    lab.ticket = 0;
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    ASSERT_CALLS(&lab, "wanted");
    ASSERT_HEARD(&client, "pulled; 5.1 end; 5.2 end; 6.1 end; 6.2 end");
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 5/1");
    lab_close(&lab);
}

/* Nodes that have dropped output go on dropping it until they are told that it
 * is wanted. */
static void without_a_cache_nodes_are_heard_first(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, 0);
    lab.tells_wanted = true;
    lab_finish(&lab, 0, 1);
    lab_finish(&lab, 3, 1);
    lab_finish(&lab, 3, 2);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    ASSERT_CALLS(&lab, "wanted; replay 0-2 channels 6 bytes 0");
    ASSERT_HEARD(&client, "0.1 end; 3.1 end; 3.2 end");
    lab_past(&lab, 0, 2, "", 500, true);
    lab_write(&lab, 0, 2, "new");
    lab_write(&lab, 1, 1, "not counted twice");
    lab_past(&lab, 1, 1, "", 17, true);
    ASSERT_HEARD(&client, "0.2 before 500; 0.2 'new'; 1.1 before 17");
    /* The node may have forgotten channels that end meanwhile. */
    lab_put(&lab, 2, 1, "end", 3, true);
    lab_finish(&lab, 1, 2);
    ASSERT_HEARD(&client, "pulled; 2.1 'end' end; 1.2 end");
    lab_finish(&lab, 2, 2);
    ASSERT_HEARD(&client, "2.2 end");
    assert_false(replays(&lab));
    lab_leave(&client);
    lab_close(&lab);
}

static void a_job_that_ended_without_a_cache_asks_nobody(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, 0);
    lab.tells_wanted = true;
    lab_finish(&lab, 0, 1);
    come(&lab, &client, 0, 0, 2);
    ASSERT_CALLS(&lab, "wanted");
    ASSERT_HEARD(&client, "pulled; 0.1 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* The kept output of a process still comes when the process has ended. */
static void an_exit_leaves_what_is_kept(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    lab_finish(&lab, 3, 1);
    lab_finish(&lab, 3, 2);
    come(&lab, &client, 3, 3, 2);
    ep_viewers_exit(lab.tap, 3, 0, (struct job_span){0});
    assert_true(replays(&lab));
    lab_past(&lab, 3, 1, "a", 0, true);
    ASSERT_HEARD(&client, "pulled; 3.1 'a' end");
    lab_leave(&client);
    lab_close(&lab);
}

/* The first piece of an answer says how many bytes are missing before it. */
static void a_large_answer_comes_in_pieces(void **state)
{
    static char text[150001];
    struct lab_client client;
    struct lab lab;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    begin(&lab, 1 << 20);
    lab_finish(&lab, 0, 1);
    come(&lab, &client, 0, 0, 2);
    lab_past(&lab, 0, 1, text, 5, true);
    ASSERT_HEARD(&client,
                 "pulled; 0.1 before 5 bytes 131072; 0.1 bytes 18928 end");
    lab_leave(&client);
    lab_close(&lab);
}

/* Each request has its own ticket, and an answer that other clients wait for
 * causes no request. */
static void answers_are_for_who_asked(void **state)
{
    struct lab_client one, other, third;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    come(&lab, &one, 0, 0, 2);
    lab.ticket = 8;
    come(&lab, &other, 0, 0, 2);
    lab_past(&lab, 0, 1, "for the other", 0, true);
    lab_write(&lab, 0, 1, "new");
    ASSERT_HEARD(&one, "");
    ASSERT_HEARD(&other, "pulled; 0.1 'for the other'; 0.1 'new'");
    assert_true(replays(&lab));
    lab.ticket = TICKET;
    lab_past(&lab, 0, 1, "for the one", 3, true);
    ASSERT_HEARD(&one, "pulled; 0.1 before 3 'for the one'");
    lab.ticket = 9;
    come(&lab, &third, 0, 0, 2);
    assert_true(replays(&lab));
    lab_calls(&lab);
    lab_leave(&third); /* nobody waits for the answer of this client */
    ASSERT_CALLS(&lab, "left 0/3; back over");
    assert_false(replays(&lab));
    lab_past(&lab, 0, 1, "for nobody", 0, true);
    ASSERT_HEARD(&one, "");
    ASSERT_HEARD(&other, "");
    lab_leave(&one);
    lab_leave(&other);
    ASSERT_CALLS(&lab, "left 0/1; left 0/2");
    lab_close(&lab);
}

/* The end of the run may have waited for the answer; when the tap closes, no
 * client asks for anything any longer. */
static void the_launcher_hears_when_who_waits_goes(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab, CACHE);
    come(&lab, &one, 0, 0, 2);
    lab.ticket = 8;
    come(&lab, &other, 0, 0, 2);
    lab_calls(&lab);
    lab_leave(&one);
    ASSERT_CALLS(&lab, "left 0/1; back over");
    assert_true(replays(&lab));
    lab_end(&lab);
    assert_true(other.is_cut);
    ASSERT_CALLS(&lab, "");
    lab_leave(&other);
    lab_close(&lab);
}

/* A client that counts ends does not wait in vain: the end of a channel that a
 * process never had is reported when the process has ended, or is lost. */
static void a_channel_that_never_was_ends_with_its_process(void **state)
{
    struct lab_client early, late;
    struct lab lab;

    (void)state;
    begin(&lab, 0);
    come(&lab, &early, 0, 2, 2 | 8);
    ASSERT_HEARD(&early, "pulled");
    ep_viewers_exit(lab.tap, 1, 0, (struct job_span){0});
    ASSERT_HEARD(&early, "1.3 end");
    ep_viewers_lost(lab.tap, 2, 1);
    ASSERT_HEARD(&early, "2.3 end");
    come(&lab, &late, 0, 2, 8);
    ASSERT_HEARD(&late, "pulled; 1.3 end; 2.3 end");
    ep_viewers_exit(lab.tap, 0, 0, (struct job_span){0});
    ASSERT_HEARD(&early, "0.3 end");
    ASSERT_HEARD(&late, "0.3 end");
    lab_leave(&early);
    lab_leave(&late);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_past_comes_first),
        cmocka_unit_test(an_answer_tells_that_it_was_heard),
        cmocka_unit_test(an_end_comes_behind_the_past),
        cmocka_unit_test(a_lost_node_does_not_hold_it_up),
        cmocka_unit_test(a_store_is_sent_when_a_node_is_lost),
        cmocka_unit_test(the_past_is_asked_of_the_jobs_channels),
        cmocka_unit_test(who_comes_too_late_for_the_past_is_refused),
        cmocka_unit_test(nothing_was_before_of_a_job_that_is_gone),
        cmocka_unit_test(without_a_cache_nodes_are_heard_first),
        cmocka_unit_test(a_job_that_ended_without_a_cache_asks_nobody),
        cmocka_unit_test(an_exit_leaves_what_is_kept),
        cmocka_unit_test(a_large_answer_comes_in_pieces),
        cmocka_unit_test(answers_are_for_who_asked),
        cmocka_unit_test(the_launcher_hears_when_who_waits_goes),
        cmocka_unit_test(a_channel_that_never_was_ends_with_its_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
