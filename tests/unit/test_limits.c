/* The limit on open files is raised where possible, and explained where not.
 *
 * Each test forks, because a lowered hard limit cannot be raised again.
 */
#include "endpoints/sys/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/fabric/transport.h"
#include "overlay/base/err.h"

enum { SOFT = 64, HARD = 128, CANNOT = 255 };

static rlim_t soft_now(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

static bool set_limits(void)
{
    struct rlimit limit = {.rlim_cur = SOFT, .rlim_max = HARD};

    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Runs check() in a child with known limits. check() returns the line number of
 * a failed expectation, or 0. valgrind does not let the hard limit change, so
 * nothing can be shown there. */
static void in_child(int (*check)(void))
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(set_limits() ? check() : CANNOT);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Exit codes have one byte, so lines of this file stay below 256. */
#define EXPECT(cond)                                                           \
    do {                                                                       \
        if (!(cond))                                                           \
            return __LINE__;                                                   \
    } while (0)

static int check_enough(void)
{
    char why[EP_WHY_MAX] = "untouched";

    EXPECT(ep_limits_descriptors(SOFT, why) == 0);
    EXPECT(soft_now() == SOFT);
    EXPECT(strcmp(why, "untouched") == 0);
    EXPECT(ep_limits_descriptors_at_start() == SOFT);
    return 0;
}

static void limit_that_is_enough_is_left_alone(void **state)
{
    (void)state;
    in_child(check_enough);
}

static int check_raise(void)
{
    char why[EP_WHY_MAX] = "untouched";

    EXPECT(ep_limits_descriptors(SOFT + 1, why) == 0);
    EXPECT(soft_now() == HARD);
    EXPECT(strcmp(why, "untouched") == 0);
    EXPECT(ep_limits_descriptors_at_start() == SOFT);
    EXPECT(ep_limits_descriptors(HARD, why) == 0);
    EXPECT(ep_limits_descriptors_at_start() == SOFT);
    return 0;
}

static void low_soft_limit_is_raised_and_remembered(void **state)
{
    (void)state;
    in_child(check_raise);
}

static int check_wish(void)
{
    ep_limits_wish(SOFT);
    EXPECT(soft_now() == SOFT);
    ep_limits_wish(UINT64_MAX);
    EXPECT(soft_now() == HARD);
    EXPECT(ep_limits_descriptors_at_start() == SOFT);
    ep_limits_wish(UINT64_MAX);
    EXPECT(soft_now() == HARD);
    return 0;
}

/* A wish for more than the hard limit is no error. */
static void a_wish_is_granted_as_far_as_it_can_be(void **state)
{
    (void)state;
    in_child(check_wish);
}

static int check_too_low(void)
{
    char why[EP_WHY_MAX] = "";

    EXPECT(ep_limits_descriptors(HARD + 1, why) == OV_EINVAL);
    EXPECT(soft_now() == SOFT);
    EXPECT(strstr(why, "129 open files are needed") != NULL);
    EXPECT(strstr(why, "hard limit is 128") != NULL);
    EXPECT(strstr(why, "ulimit -Hn 129") != NULL);
    EXPECT(strstr(why, "fewer nodes") != NULL);
    EXPECT(ep_limits_descriptors(UINT64_MAX, why) == OV_EINVAL);
    EXPECT(strlen(why) < EP_WHY_MAX - 1);
    return 0;
}

static void low_hard_limit_is_explained(void **state)
{
    (void)state;
    in_child(check_too_low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_that_is_enough_is_left_alone),
        cmocka_unit_test(low_soft_limit_is_raised_and_remembered),
        cmocka_unit_test(a_wish_is_granted_as_far_as_it_can_be),
        cmocka_unit_test(low_hard_limit_is_explained),
    };

    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
