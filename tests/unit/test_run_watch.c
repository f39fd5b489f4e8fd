/* A check that is repeated while something waits. */
#include "endpoints/run/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <event2/event.h>

struct looks {
    struct run_watch *watch;
    unsigned count, wanted;
};

static void look(void *arg)
{
    struct looks *looks = arg;

    if (++looks->count < looks->wanted)
        ep_watch_soon(looks->watch);
}

/* The loop ends when nothing waits. */
static void it_looks_as_long_as_something_waits(void **state)
{
    struct event_base *base = event_base_new();
    struct looks looks = {.wanted = 2};

    (void)state;
    assert_non_null(base);
    assert_int_equal(ep_watch_open(base, 1, 4, look, &looks, &looks.watch), 0);
    assert_int_equal(event_base_dispatch(base), 1); /* no look is pending */
    ep_watch_soon(looks.watch);
    ep_watch_soon(looks.watch); /* this requests the same check */
    assert_int_equal(event_base_dispatch(base), 1);
    assert_int_equal(looks.count, 2);
    ep_watch_close(looks.watch);
    event_base_free(base);
}

/* The check that was due takes place once. */
static void it_begins_anew(void **state)
{
    struct event_base *base = event_base_new();
    struct looks looks = {.wanted = 1};

    (void)state;
    assert_non_null(base);
    assert_int_equal(ep_watch_open(base, 1, 4, look, &looks, &looks.watch), 0);
    ep_watch_soon(looks.watch);
    ep_watch_anew(looks.watch);
    assert_int_equal(event_base_dispatch(base), 1);
    assert_int_equal(looks.count, 1);
    ep_watch_close(looks.watch);
    event_base_free(base);
}

static void without_one_nothing_happens(void **state)
{
    (void)state;
    ep_watch_soon(NULL);
    ep_watch_anew(NULL);
    ep_watch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_looks_as_long_as_something_waits),
        cmocka_unit_test(it_begins_anew),
        cmocka_unit_test(without_one_nothing_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
