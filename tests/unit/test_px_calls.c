/* Calls that wait for their turn: who goes, and who stands aside. */
#include "pmix_api/helper/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A call to jobs, each a letter; it waits while one of these is full. */
struct letters {
    struct px_call base;
    const char *jobs;
};

static struct px_calls calls;
static const char *full;

static bool has_to_wait(const struct px_call *call)
{
    return strpbrk(((const struct letters *)call)->jobs, full) != NULL;
}

static int setup(void **state)
{
    (void)state;
    px_calls_init(&calls);
    full = "";
    return 0;
}

static void add(struct letters *call, unsigned tool, const char *jobs)
{
    call->base.tool = tool;
    call->base.is_wide = strlen(jobs) > 1;
    call->jobs = jobs;
    px_calls_add(&calls, &call->base);
}

static void expect(const struct letters *want)
{
    assert_ptr_equal(px_calls_next(&calls, has_to_wait), want);
}

/* --- tests */

static void they_go_as_they_came(void **state)
{
    struct letters call[3];

    (void)state;
    expect(NULL);
    add(&call[0], 0, "a");
    add(&call[1], 1, "b");
    expect(&call[0]);
    add(&call[2], 0, "ab");
    expect(&call[1]);
    expect(&call[2]);
    expect(NULL);
    px_calls_put_back(&calls);
    expect(NULL);
}

static void who_waits_holds_up_no_other(void **state)
{
    struct letters call[5];

    (void)state;
    full = "a";
    add(&call[0], 0, "a");
    add(&call[1], 0, "b");
    add(&call[2], 1, "a");
    add(&call[3], 1, "c");
    expect(&call[1]);
    expect(&call[3]);
    expect(NULL);
    add(&call[4], 2, "b");
    full = "";
    px_calls_put_back(&calls);
    expect(&call[0]);
    expect(&call[2]);
    expect(&call[4]);
    expect(NULL);
}

/* They stand where they came also when some go and others wait again. */
static void the_order_stays(void **state)
{
    struct letters call[4];

    (void)state;
    full = "ab";
    add(&call[0], 0, "a");
    add(&call[1], 0, "b");
    add(&call[2], 0, "a");
    expect(NULL);
    add(&call[3], 0, "b");
    full = "a";
    px_calls_put_back(&calls);
    expect(&call[1]);
    expect(&call[3]);
    expect(NULL);
    full = "";
    px_calls_put_back(&calls);
    expect(&call[0]);
    expect(&call[2]);
    expect(NULL);
}

/* It goes on before those behind it, and before one for several jobs that had
 * to wait already. */
static void who_has_begun_may_wait_after_all(void **state)
{
    struct letters call[4];

    (void)state;
    add(&call[3], 2, "ac");
    add(&call[0], 0, "a");
    add(&call[1], 1, "a");
    add(&call[2], 1, "b");
    full = "c";
    expect(&call[0]);
    full = "a";
    px_calls_suspend(&calls, &call[0].base);
    expect(&call[2]);
    expect(NULL);
    px_calls_put_back(&calls);
    expect(NULL);
    full = "";
    px_calls_put_back(&calls);
    expect(&call[0]);
    expect(&call[3]);
    expect(&call[1]);
    expect(NULL);
    full = "a";
    px_calls_suspend(&calls, &call[0].base);
    add(&call[1], 1, "a");
    expect(NULL);
    full = "";
    px_calls_put_back(&calls);
    expect(&call[0]);
    expect(&call[1]);
}

/* What one tool has for b comes behind what it has said for a and b; that of
 * another tool need not. */
static void one_for_several_jobs_goes_before_later_ones(void **state)
{
    struct letters call[4];

    (void)state;
    full = "a";
    add(&call[0], 3, "ab");
    add(&call[1], 3, "b");
    add(&call[2], 4, "b");
    add(&call[3], 3, "c");
    expect(&call[2]);
    expect(NULL);
    full = "";
    px_calls_put_back(&calls);
    expect(&call[0]);
    expect(&call[1]);
    expect(&call[3]);
    expect(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(they_go_as_they_came, setup),
        cmocka_unit_test_setup(who_waits_holds_up_no_other, setup),
        cmocka_unit_test_setup(the_order_stays, setup),
        cmocka_unit_test_setup(who_has_begun_may_wait_after_all, setup),
        cmocka_unit_test_setup(one_for_several_jobs_goes_before_later_ones,
                               setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
