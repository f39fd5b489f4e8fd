/* Keeps account of what became of each delivery. */
#include "pmix_api/helper/lib/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MESSAGE = 100, COST = 7 };

static struct px_ledger ledger;

static int set_up(void **state)
{
    (void)state;
    memset(&ledger, 0, sizeof(ledger));
    return 0;
}

static void give(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        px_ledger_give(&ledger, COST);
        px_ledger_handle(&ledger);
    }
}

/* Writes a whole message, in two writes. */
static void write_one(uint64_t number)
{
    px_ledger_begin(&ledger, number, MESSAGE);
    assert_false(px_ledger_write(&ledger, MESSAGE / 4));
    assert_true(px_ledger_write(&ledger, MESSAGE - MESSAGE / 4));
}

static uint64_t taken_at(uint64_t position)
{
    px_ledger_read(&ledger, position);
    return ledger.taken;
}

/* A delivery counts as read when the next has begun and all of its bytes are
 * read. */
static void one_message_each(void **state)
{
    (void)state;
    give(3);
    write_one(1);
    assert_int_equal(0, taken_at(MESSAGE));
    write_one(2);
    assert_int_equal(0, taken_at(MESSAGE - 1));
    assert_int_equal(1, taken_at(MESSAGE));
    assert_int_equal(1, taken_at(2 * MESSAGE));
    assert_int_equal(2 * COST, ledger.open_bytes);
}

/* A delivery that two pulls name counts when both messages are read. */
static void two_messages_each(void **state)
{
    (void)state;
    give(2);
    write_one(1);
    write_one(1);
    write_one(2);
    assert_int_equal(0, taken_at(2 * MESSAGE - 1));
    assert_int_equal(1, taken_at(2 * MESSAGE));
    write_one(2);
    px_ledger_rest(&ledger, 2);
    assert_int_equal(1, taken_at(4 * MESSAGE - 1));
    assert_int_equal(2, taken_at(4 * MESSAGE));
    assert_int_equal(0, ledger.open_bytes);
}

/* A delivery that no pull names counts together with the one before it. */
static void no_message(void **state)
{
    (void)state;
    give(5);
    px_ledger_rest(&ledger, 2);
    assert_int_equal(2, taken_at(0));
    write_one(4);
    assert_int_equal(3, taken_at(0));
    px_ledger_rest(&ledger, 5);
    assert_int_equal(3, taken_at(MESSAGE - 1));
    assert_int_equal(5, taken_at(MESSAGE));
}

/* A delivery that no pull names is recognised when a later one is begun, or
 * nothing is left to write. */
static void missed(void **state)
{
    (void)state;
    give(6);
    assert_int_equal(0, px_ledger_missed(&ledger, 0));
    write_one(3);
    assert_int_equal(1, px_ledger_missed(&ledger, 0));
    assert_int_equal(2, px_ledger_missed(&ledger, 1));
    assert_int_equal(0, px_ledger_missed(&ledger, 2));
    write_one(5);
    assert_int_equal(4, px_ledger_missed(&ledger, 2));
    px_ledger_rest(&ledger, 6);
    assert_int_equal(6, px_ledger_missed(&ledger, 4));
    assert_int_equal(0, px_ledger_missed(&ledger, 6));
}

/* The ledger is full before it would forget a delivery that no pull named: each
 * one is reported, however late the caller asks. */
static void many_missed(void **state)
{
    uint64_t seen = 0;

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        while (!px_ledger_is_full(&ledger)) {
            give(1);
            if (ledger.given % 3 == 0)
                px_ledger_rest(&ledger, ledger.given);
        }
        px_ledger_rest(&ledger, ledger.given);
        assert_int_equal(seen + LEDGER_MISSED, ledger.given);
        for (unsigned i = 0; i < LEDGER_MISSED; i++) {
            assert_int_equal(seen + 1, px_ledger_missed(&ledger, seen));
            seen++;
        }
        assert_int_equal(0, px_ledger_missed(&ledger, seen));
        assert_false(px_ledger_is_full(&ledger));
    }
}

/* Messages that belong to no delivery take their part of the stream. */
static void others(void **state)
{
    (void)state;
    give(1);
    write_one(0);
    write_one(1);
    write_one(0);
    px_ledger_rest(&ledger, 1);
    assert_int_equal(0, taken_at(2 * MESSAGE));
    assert_int_equal(1, taken_at(3 * MESSAGE));
}

/* A message that is partly written counts as left to write; a message of which
 * no byte could be written may be begun again. */
static void a_part(void **state)
{
    (void)state;
    give(2);
    px_ledger_begin(&ledger, 1, MESSAGE);
    px_ledger_begin(&ledger, 1, MESSAGE);
    px_ledger_write(&ledger, 1);
    px_ledger_rest(&ledger, 2);
    assert_int_equal(0, taken_at(MESSAGE));
    assert_int_equal(2 * COST, ledger.open_bytes);
}

/* There are more marks than there is room for; the marks that are kept never
 * come before their deliveries. */
static void many_marks(void **state)
{
    enum { MANY = 5 * LEDGER_MARKS };

    (void)state;
    for (uint64_t n = 1; n <= MANY; n++) {
        assert_false(px_ledger_is_full(&ledger));
        give(1);
        write_one(n);
    }
    for (uint64_t at = 0; at < MANY * (uint64_t)MESSAGE; at += MESSAGE / 2)
        assert_true(taken_at(at) <= at / MESSAGE);
    px_ledger_rest(&ledger, MANY);
    assert_int_equal(MANY, taken_at(MANY * (uint64_t)MESSAGE));
}

static void full(void **state)
{
    (void)state;
    give(LEDGER_OPEN_MAX);
    assert_true(px_ledger_is_full(&ledger));
    write_one(2);
    assert_false(px_ledger_is_full(&ledger));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_message_each, set_up),
        cmocka_unit_test_setup(two_messages_each, set_up),
        cmocka_unit_test_setup(no_message, set_up),
        cmocka_unit_test_setup(missed, set_up),
        cmocka_unit_test_setup(many_missed, set_up),
        cmocka_unit_test_setup(others, set_up),
        cmocka_unit_test_setup(a_part, set_up),
        cmocka_unit_test_setup(many_marks, set_up),
        cmocka_unit_test_setup(full, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
