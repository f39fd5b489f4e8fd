/* The number of OUTPUTs that the tool has read is counted in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "pmix_api/helper/receipts.h"

enum { OUT = 1, ERR = 2 };

static struct px_receipts *receipts;

static int set_up(void **state)
{
    (void)state;
    return px_receipts_open(&receipts);
}

static int tear_down(void **state)
{
    (void)state;
    px_receipts_close(receipts);
    return 0;
}

/* Each OUTPUT has a delivery of its own. */
static void one_each(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        px_receipts_add(receipts, OUT);
        px_receipts_give(receipts, OUT, 10 * i);
    }
    assert_int_equal(px_receipts_take(receipts, 9), 0);
    assert_int_equal(px_receipts_take(receipts, 10), 1);
    assert_false(px_receipts_are_settled(receipts, 29));
    assert_true(px_receipts_are_settled(receipts, 30));
    assert_false(px_receipts_are_empty(receipts));
    assert_int_equal(px_receipts_take(receipts, 30), 3);
    assert_true(px_receipts_are_empty(receipts));
}

/* An OUTPUT that is held keeps later ones from counting, those of other
 * channels, too. */
static void held_back(void **state)
{
    (void)state;
    px_receipts_add(receipts, ERR);
    px_receipts_add(receipts, OUT);
    px_receipts_give(receipts, OUT, 1);
    assert_int_equal(px_receipts_take(receipts, 1), 0);
    px_receipts_add(receipts, ERR);
    px_receipts_give(receipts, ERR, 2);
    assert_int_equal(px_receipts_take(receipts, 1), 0);
    assert_int_equal(px_receipts_take(receipts, 2), 3);
}

/* An OUTPUT that reached no pull does not count, nor does any after it. */
static void missed(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 4; i++) {
        px_receipts_add(receipts, OUT);
        px_receipts_give(receipts, OUT, i);
    }
    px_receipts_miss(receipts, 3);
    px_receipts_miss(receipts, 4);
    assert_int_equal(px_receipts_take(receipts, 4), 2);
    assert_true(px_receipts_are_settled(receipts, 4));
}

/* There is room for a limited number of OUTPUTs, and again when some are
 * read. */
static void room(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PX_RECEIPTS_MAX; i++) {
        assert_false(px_receipts_are_full(receipts));
        px_receipts_add(receipts, OUT);
        px_receipts_give(receipts, OUT, i + 1);
    }
    assert_true(px_receipts_are_full(receipts));
    assert_int_equal(px_receipts_take(receipts, 5), 5);
    for (unsigned i = 0; i < 5; i++)
        px_receipts_add(receipts, ERR);
    assert_true(px_receipts_are_full(receipts));
    px_receipts_give(receipts, ERR, PX_RECEIPTS_MAX + 1);
    assert_int_equal(px_receipts_take(receipts, PX_RECEIPTS_MAX + 1),
                     PX_RECEIPTS_MAX + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(held_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(room, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
