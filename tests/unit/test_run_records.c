/* Records, and the outputs that hold them. */
#include "endpoints/run/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "overlay/base/buf.h"

struct freed {
    uint32_t count, cookie;
    struct ov_buf *buf;
};

static void on_free(void *arg, uint32_t cookie, struct ov_buf *buf)
{
    struct freed *freed = arg;

    freed->count++;
    freed->cookie = cookie;
    freed->buf = buf;
}

static void the_last_holder_gives_it_back(void **state)
{
    struct ov_buf buf = {.refs = 1}, other = {.refs = 1};
    struct freed freed = {0};
    struct run_records *held;

    (void)state;
    assert_int_equal(ep_run_records_open(on_free, &freed, &held), 0);
    ep_run_hold_new(held, 7, &buf);
    ep_run_hold(held, 7);
    ep_run_hold_new(held, RUN_RECORDS_MAX - 1, &other);
    ep_run_let_go(held, 7);
    assert_int_equal(freed.count, 0);
    ep_run_let_go(held, 7);
    assert_int_equal(freed.count, 1);
    assert_int_equal(freed.cookie, 7);
    assert_ptr_equal(freed.buf, &buf);
    ep_run_let_go(held, RUN_RECORDS_MAX - 1);
    assert_int_equal(freed.count, 2);
    assert_ptr_equal(freed.buf, &other);
    ep_run_records_close(held);
}

/* The tree uses a cookie again for another record. */
static void a_cookie_comes_again(void **state)
{
    struct ov_buf first = {.refs = 1}, second = {.refs = 1};
    struct freed freed = {0};
    struct run_records *held;

    (void)state;
    assert_int_equal(ep_run_records_open(on_free, &freed, &held), 0);
    ep_run_hold_new(held, 0, &first);
    ep_run_let_go(held, 0);
    ep_run_hold_new(held, 0, &second);
    ep_run_let_go(held, 0);
    assert_int_equal(freed.count, 2);
    assert_ptr_equal(freed.buf, &second);
    ep_run_records_close(held);
}

static void what_is_no_record_has_no_holders(void **state)
{
    struct freed freed = {0};
    struct run_records *held;

    (void)state;
    assert_int_equal(ep_run_records_open(on_free, &freed, &held), 0);
    ep_run_hold(held, RUN_NO_RECORD);
    ep_run_let_go(held, RUN_NO_RECORD);
    ep_run_let_go(held, RUN_NO_RECORD);
    assert_int_equal(freed.count, 0);
    ep_run_records_close(held);
    ep_run_records_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_holder_gives_it_back),
        cmocka_unit_test(a_cookie_comes_again),
        cmocka_unit_test(what_is_no_record_has_no_holders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
