/* Clients that take output instead of the console. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include "endpoints/client/viewer_impl.h"
#include "endpoints/sys/writer.h"
#include "tests/unit/rig.h"
#include "tests/unit/viewers_lab.h"

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
}

static void come(struct lab *lab, struct lab_client *client)
{
    lab_attach(lab, client, "own");
    assert_string_equal(lab_pull_away(client, 2), "");
    ASSERT_HEARD(client, "redirected");
    lab_calls(lab);
}

static bool redirects(const struct lab *lab, uint32_t proc, uint8_t channel)
{
    return ep_viewers_redirects(lab->tap, proc, channel);
}

static bool gives_back(const struct lab *lab, uint32_t proc, uint8_t channel)
{
    return ep_viewers_gives_back(lab->tap, proc, channel);
}

static void take_back(struct lab *lab)
{
    ep_viewers_took_back(lab->tap);
    lab_turn(lab);
}

/* Output that the client has acknowledged is not given back to the console. */
static void what_is_not_taken_goes_back(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    assert_false(redirects(&lab, 0, 1));
    come(&lab, &client);
    assert_true(redirects(&lab, 0, 1) && redirects(&lab, 3, 1));
    assert_false(redirects(&lab, 0, 2));
    assert_true(lab_redirect(&lab, 0, 1, "one", false));
    assert_true(lab_redirect(&lab, 0, 1, "two", false));
    assert_true(lab_redirect(&lab, 1, 1, "three", true));
    ASSERT_HEARD(&client, "0.1 'one'; 0.1 'two'; 1.1 'three' end");
    assert_string_equal(lab_taken(&client, 1), "");
    assert_false(gives_back(&lab, 0, 1));
    lab_leave(&client);
    assert_true(gives_back(&lab, 0, 1));
    assert_false(redirects(&lab, 0, 1));
    lab_calls(&lab);
    lab_turn(&lab);
    lab_turn(&lab);
    assert_false(gives_back(&lab, 0, 1));
    assert_non_null(strstr(lab.calls, "back 0.1 'two'; "));
    assert_non_null(strstr(
        lab.calls,
        "back 1.1 'three' end; say up to 8 bytes of redirected output that a "
        "client was sent are shown here a second time; back over"));
    assert_null(strstr(lab.calls, "'one'"));
    assert_true(ep_viewers_flush(lab.tap));
    take_back(&lab);
    take_back(&lab);
    assert_non_null(strstr(lab.calls, "flushed"));
    assert_false(ep_viewers_flush(lab.tap));
    lab_close(&lab);
}

/* At most eight pieces are on their way to the console. */
static void few_go_back_at_a_time(void **state)
{
    struct lab_client client;
    struct lab lab;
    unsigned backs = 0;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    for (unsigned i = 0; i < 20; i++)
        assert_true(lab_redirect(&lab, 0, 1, "x", false));
    lab_leave(&client);
    for (unsigned i = 0; i < 30; i++) {
        const char *at = lab.calls;

        lab_turn(&lab);
        while ((at = strstr(at, "back 0.1 'x'")) != NULL) {
            backs++;
            at++;
        }
        lab.calls[0] = '\0';
        assert_true(backs <= 8 + i);
        assert_true(gives_back(&lab, 0, 1) || backs == 20);
        if (i < 20)
            take_back(&lab);
        backs += strstr(lab.calls, "back 0.1 'x'") != NULL;
        lab.calls[0] = '\0';
    }
    assert_int_equal(backs, 20);
    lab_close(&lab);
}

static void others_get_copies_beside_it(void **state)
{
    struct lab_client client, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    lab_attach(&lab, &other, "own");
    assert_string_equal(lab_pull(&other, 6), "");
    ASSERT_HEARD(&other, "pulled");
    assert_true(lab_redirect(&lab, 0, 1, "a", false));
    ASSERT_HEARD(&other, "0.1 'a'");
    lab_write(&lab, 0, 2, "b");
    ASSERT_HEARD(&other, "0.2 'b'");
    ASSERT_HEARD(&client, "0.1 'a'");
    /* A client that gets a copy gives nothing back. */
    lab_leave(&other);
    lab_turn(&lab);
    assert_null(strstr(lab_calls(&lab), "back 0"));
    assert_string_equal(lab_taken(&client, 1), "");
    lab_leave(&client);
    lab_turn(&lab);
    assert_null(strstr(lab_calls(&lab), "back 0"));
    lab_close(&lab);
}

/* The console has all output up to this point. */
static void it_redirects_behind_what_was_before(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.cache_bytes = 100;
    lab.ticket = 7;
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_range(&client, 1, 2), "");
    assert_string_equal(
        lab_say(&client, (struct job_door){.kind = JOB_DOOR_PULL,
                                           .channels = 2,
                                           .redirects = true,
                                           .is_last = true,
                                           .cache_bytes = 30}),
        "");
    ASSERT_CALLS(&lab, "wanted; replay 1-2 channels 2 bytes 30 last");
    lab_told(&lab, 1, 2);
    assert_false(redirects(&lab, 1, 1) || redirects(&lab, 2, 1));
    lab_past(&lab, 1, 1, "old", 4, true);
    assert_true(redirects(&lab, 1, 1));
    assert_false(redirects(&lab, 2, 1));
    assert_true(lab_redirect(&lab, 1, 1, "new", false));
    lab_past(&lab, 2, 1, "", 0, true);
    assert_true(redirects(&lab, 2, 1));
    assert_false(redirects(&lab, 0, 1) || redirects(&lab, 3, 1));
    ASSERT_HEARD(&client, "redirected; 1.1 before 4 'old'; 1.1 'new'");
    lab_leave(&client);
    lab_turn(&lab);
    lab_turn(&lab);
    assert_non_null(strstr(lab.calls, "back 1.1 'new'"));
    assert_null(strstr(lab.calls, "'old'"));
    take_back(&lab);
    lab_close(&lab);
}

/* The client is sent what follows its last acknowledgement, however slowly it
 * reads. */
static void the_end_waits_for_its_word(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    assert_true(lab_redirect(&lab, 0, 1, "a", true));
    ASSERT_HEARD(&client, "0.1 'a' end");
    assert_true(ep_viewers_flush(lab.tap));
    lab_turn(&lab);
    assert_null(strstr(lab_calls(&lab), "flushed"));
    assert_string_equal(lab_taken(&client, 1), "");
    lab_turn(&lab);
    assert_non_null(strstr(lab_calls(&lab), "flushed"));
    lab_leave(&client);
    lab_close(&lab);
}

static void expire(struct lab *lab)
{
    event_active(lab->all->limit, EV_TIMEOUT, 0);
    lab_turn(lab);
}

static void one_that_says_nothing_is_cut_off_at_the_end(void **state)
{
    struct lab_client client, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    come(&lab, &other);
    assert_true(lab_redirect(&lab, 0, 1, "a", true));
    assert_true(ep_viewers_flush(lab.tap));
    expire(&lab);
    assert_true(client.is_cut && other.is_cut);
    assert_string_equal(client.why, "the session is over: output that this "
                                    "client has not acknowledged is shown on "
                                    "the session's console");
    lab_turn(&lab);
    assert_non_null(strstr(lab.calls, "back 0.1 'a' end"));
    assert_null(strstr(strstr(lab.calls, "back 0.1") + 1, "back 0.1"));
    assert_null(strstr(lab.calls, "flushed"));
    take_back(&lab);
    assert_non_null(strstr(lab.calls, "flushed"));
    lab_leave(&client);
    lab_leave(&other);
    lab_close(&lab);
}

/* Nobody waits for ever for a console that takes nothing. */
static void the_console_has_its_time_too(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    assert_true(lab_redirect(&lab, 0, 1, "a", true));
    lab_leave(&client);
    lab_turn(&lab);
    assert_true(ep_viewers_flush(lab.tap));
    expire(&lab);
    assert_non_null(strstr(lab.calls, "flushed"));
    lab_close(&lab);
}

static void only_the_own_job_has_a_console(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_job(&lab, "own.1", LAB_BASE, 2, 0);
    lab_attach(&lab, &client, "own.1");
    assert_string_equal(lab_pull_away(&client, 2), "");
    ASSERT_HEARD(&client, "pulled");
    assert_false(redirects(&lab, LAB_BASE, 1));
    lab_write(&lab, LAB_BASE, 1, "a");
    ASSERT_HEARD(&client, LAB_BASE == 10 ? "10.1 'a'" : "");
    lab_leave(&client);
    lab_turn(&lab);
    assert_null(strstr(lab_calls(&lab), "back 1"));
    lab_close(&lab);
}

static void it_has_taken_only_what_it_was_sent(void **state)
{
    static const char why[] = "TAKEN must come from a client that redirects "
                              "output, and not count more than it was sent";
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    assert_true(lab_redirect(&lab, 0, 1, "a", false));
    assert_true(lab_redirect(&lab, 0, 1, "b", false));
    assert_string_equal(lab_taken(&client, 2), "");
    assert_string_equal(lab_taken(&client, 2), "");
    /* the client had more to read */
    assert_string_equal(lab_taken(&client, 1), why);
    lab_leave(&client);
    come(&lab, &client);
    assert_string_equal(lab_taken(&client, 1), why);
    lab_leave(&client);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_pull(&client, 2), "");
    assert_string_equal(lab_taken(&client, 0), why);
    lab_leave(&client);
    lab_close(&lab);
}

/* The bytes that could not be given back are reported. */
static void an_end_before_the_way_back_is_told(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    assert_true(lab_redirect(&lab, 0, 1, "abc", false));
    lab_calls(&lab);
    lab_end(&lab);
    assert_non_null(
        strstr(lab_calls(&lab),
               "say up to 3 bytes of redirected output are not shown: "
               "the session ended before a client had read them"));
    lab_leave(&client);
    lab_begin(&lab);
    come(&lab, &client);
    assert_true(lab_redirect(&lab, 0, 1, "abc", false));
    lab_leave(&client);
    lab.takes_back = false;
    lab_turn(&lab);
    lab_turn(&lab);
    lab_turn(&lab);
    assert_non_null(strstr(lab_calls(&lab), "say up to 3 bytes of redirected "
                                            "output are lost"));
    lab_end(&lab);
    assert_null(strstr(lab_calls(&lab), "say"));
    lab_close(&lab);
}

static bool is_written(const void *arg)
{
    const struct lab *lab = arg;

    return ep_writer_is_idle(lab->writer);
}

/* More waits for the client than its outbox can hold. */
static void a_copy_may_have_a_store(void **state)
{
    static uint8_t bytes[JOB_DOOR_REST_MAX];
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    struct job_door msg;
    struct lab lab;
    unsigned count = 0;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(
        lab_say(&client, (struct job_door){.kind = JOB_DOOR_PULL,
                                           .channels = 2,
                                           .limit_bytes = 64 << 20}),
        "");
    ASSERT_HEARD(&client, "pulled");
    assert_false(redirects(&lab, 0, 1));
    for (unsigned i = 0; i < 512; i++) { /* 16 MiB in all */
        bytes[0] = (uint8_t)i;
        lab_put(&lab, 0, 1, bytes, sizeof(bytes), i == 511);
        rig_run_until_true(lab.base, is_written, &lab);
    }
    assert_true(ep_viewers_flush(lab.tap));
    while (count < 512) {
        msg = lab_next(&client, mem);
        if (msg.kind == 0)
            continue;
        assert_int_equal(msg.kind, JOB_DOOR_OUTPUT);
        assert_int_equal(msg.dropped_bytes, 0);
        assert_int_equal(*msg.rest.at, (uint8_t)count++);
        assert_int_equal(msg.is_end, count == 512);
    }
    lab_turn(&lab);
    assert_non_null(strstr(lab.calls, "flushed"));
    assert_null(strstr(lab.calls, "say"));
    assert_string_equal(lab_taken(&client, 1),
                        "TAKEN must come from a client that redirects output, "
                        "and not count more than it was sent");
    lab_leave(&client);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_taken_goes_back),
        cmocka_unit_test(few_go_back_at_a_time),
        cmocka_unit_test(others_get_copies_beside_it),
        cmocka_unit_test(it_redirects_behind_what_was_before),
        cmocka_unit_test(the_end_waits_for_its_word),
        cmocka_unit_test(one_that_says_nothing_is_cut_off_at_the_end),
        cmocka_unit_test(the_console_has_its_time_too),
        cmocka_unit_test(only_the_own_job_has_a_console),
        cmocka_unit_test(it_has_taken_only_what_it_was_sent),
        cmocka_unit_test(an_end_before_the_way_back_is_told),
        cmocka_unit_test(a_copy_may_have_a_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
