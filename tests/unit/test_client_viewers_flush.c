/* The end of a run waits, for a limited time, for clients that have yet to
 * receive something. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include <sys/socket.h>

#include "endpoints/client/viewer_impl.h"
#include "tests/unit/rig.h"
#include "tests/unit/viewers_lab.h"

enum { RECORD = 32 * 1024, MANY = 200 }; /* more than an outbox keeps */

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab_begin(lab);
}

/* Connects a client whose socket has little room. */
static void come(struct lab *lab, struct lab_client *client)
{
    static const int bytes = 104 * 1024;

    lab_attach(lab, client, "own");
    assert_string_equal(lab_pull(client, 2), "");
    ASSERT_HEARD(client, "pulled");
    assert_int_equal(setsockopt(client->viewer->fd, SOL_SOCKET, SO_SNDBUF,
                                &bytes, sizeof(bytes)),
                     0);
    lab_calls(lab);
}

static void fill(struct lab *lab)
{
    static const uint8_t mem[RECORD];

    for (unsigned i = 0; i < MANY; i++)
        lab_put(lab, 0, 1, mem, sizeof(mem), false);
}

static const char *flush_of(const struct lab *lab)
{
    return ep_viewers_flush(lab->tap) ? "waits" : "nothing";
}

static void a_flush_waits_until_all_is_sent(void **state)
{
    struct lab_client client, idle;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_attach(&lab, &idle, "own");
    come(&lab, &client);
    assert_string_equal(flush_of(&lab), "nothing");
    fill(&lab);
    lab_finish(&lab, 1, 1);
    assert_string_equal(flush_of(&lab), "waits");
    lab_leave(&idle);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/1");
    assert_non_null(strstr(lab_heard(&client), "1.1 end"));
    ASSERT_CALLS(&lab, "flushed");
    assert_string_equal(flush_of(&lab), "nothing");
    lab_leave(&client);
    lab_close(&lab);
}

/* Little waits in the client's outbox, which has no room. */
static void a_flush_waits_until_drops_are_told(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab.all->pool.limit_bytes = 0;
    come(&lab, &client);
    fill(&lab);
    assert_in_range(lab.all->pool.used_bytes, 1, EP_OUTBOX_LEAST_BYTES);
    assert_string_equal(flush_of(&lab), "waits");
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "");
    assert_non_null(strstr(lab_heard(&client), "0.1 dropped"));
    ASSERT_CALLS(&lab, "flushed");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_flush_does_not_wait_for_who_leaves(void **state)
{
    struct lab_client one, other;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &one);
    come(&lab, &other);
    fill(&lab);
    assert_string_equal(flush_of(&lab), "waits");
    lab_leave(&one);
    lab_turn(&lab);
    ASSERT_CALLS(&lab, "left 0/1");
    lab_leave(&other);
    ASSERT_CALLS(&lab, "left 0/2");
    lab_turn(&lab); /* not from within the call that closes the client */
    ASSERT_CALLS(&lab, "flushed");
    lab_close(&lab);
}

/* Lets the time of one look pass. */
static void look(struct lab *lab)
{
    event_active(lab->all->limit, EV_TIMEOUT, 0);
    lab_turn(lab);
}

/* Takes more than the client's socket holds, so that some of the kept packets
 * are sent. */
static void take_some(struct lab_client *client)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];

    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(lab_next(client, mem).kind, JOB_DOOR_OUTPUT);
}

static void who_takes_some_has_more_time(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    fill(&lab);
    assert_string_equal(flush_of(&lab), "waits");
    for (unsigned i = 1; i < 12; i++) {
        take_some(&client);
        look(&lab);
        ASSERT_CALLS(&lab, "");
    }
    take_some(&client);
    look(&lab); /* the wait ends after some time */
    ASSERT_CALLS(&lab, "flushed");
    assert_string_equal(flush_of(&lab), "waits");
    take_some(&client);
    look(&lab);
    ASSERT_CALLS(&lab, "");
    look(&lab); /* the client has taken nothing since the last look */
    ASSERT_CALLS(&lab, "flushed");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_flush_ends_with_the_tap(void **state)
{
    struct lab_client one, waits;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &one);
    fill(&lab);
    assert_string_equal(flush_of(&lab), "waits");
    lab_end(&lab);
    assert_true(one.is_cut);
    lab_come(&lab, &waits, "own");
    lab_leave(&waits);
    ASSERT_CALLS(&lab, "");
    lab_leave(&one);
    lab_close(&lab);
}

static bool is_called(const void *arg)
{
    return ((const struct lab *)arg)->calls[0] != '\0';
}

static void a_flush_ends_in_seconds(void **state)
{
    uint64_t start_ns = rig_now_ns();
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    come(&lab, &client);
    fill(&lab);
    assert_string_equal(flush_of(&lab), "waits");
    rig_run_until_true(lab.base, is_called, &lab);
    ASSERT_CALLS(&lab, "flushed");
    assert_true(rig_now_ns() - start_ns >= UINT64_C(4000000000));
    lab_leave(&client);
    ASSERT_CALLS(&lab, "left 0/1");
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flush_waits_until_all_is_sent),
        cmocka_unit_test(a_flush_waits_until_drops_are_told),
        cmocka_unit_test(a_flush_does_not_wait_for_who_leaves),
        cmocka_unit_test(who_takes_some_has_more_time),
        cmocka_unit_test(a_flush_ends_with_the_tap),
        cmocka_unit_test(a_flush_ends_in_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
