/* A plan that the machine cannot hold is refused with a reason; one that fits
 * is accepted.
 *
 * The machine is given in numbers, so each limit is tested just below and just
 * above.
 */
#include "endpoints/hub/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

#define MIB (UINT64_C(1) << 20)

/* A machine with two processors, 24 GiB, and the default limits of a
 * distribution. */
static const struct ep_room small = {
    .pid_max = 32768,
    .threads_max = 192730,
    .tasks = 140,
    .user_max = UINT64_MAX,
    .is_counted = true,
    .group_max = UINT64_MAX,
    .files = 20000,
    .memory_bytes = 23000 * MIB,
    .group_bytes = UINT64_MAX,
    .processors = 2,
};

/* Returns what `-N nodes` needs, when all processes read an endless stdin. */
static struct ep_need virtual_nodes(uint32_t nodes, uint32_t per_daemon)
{
    struct topo_tree tree = {.nodes = nodes + 1, .arity = 16};
    struct ep_session_sizes sizes = ep_session_sizes(tree, per_daemon);
    struct ep_need_plan plan = {
        .has_launcher = true,
        .daemons = (nodes - 1) / per_daemon + 1,
        .nodes = nodes,
        .procs = nodes,
        .files = ep_session_descriptors(tree, per_daemon, 4),
        .stdin_bytes = UINT64_MAX,
        .sizes = &sizes,
    };

    return ep_need_of(&plan);
}

static int check(struct ep_need need, const struct ep_room *room, char *why)
{
    struct ep_room copy = *room;

    strcpy(why, "untouched");
    return ep_need_check(&need, &copy, why);
}

static void ten_thousand_nodes_fit_on_a_small_machine(void **state)
{
    char why[EP_WHY_MAX];

    (void)state;
    assert_int_equal(check(virtual_nodes(10000, 1250), &small, why), 0);
    assert_string_equal(why, "untouched");
}

static void a_million_nodes_are_too_many_processes(void **state)
{
    char why[EP_WHY_MAX];

    (void)state;
    assert_int_equal(check(virtual_nodes(1000000, 1000), &small, why),
                     OV_EFULL);
    assert_non_null(strstr(why, "1002012 processes and threads are needed"));
    assert_non_null(strstr(why, "room for 32328 (kernel.pid_max is 32768)"));
    assert_non_null(strstr(why, "run fewer nodes or processes"));
}

/* Each limit accepts the greatest number and refuses one more, naming
 * itself. */
static void each_limit_on_processes_is_met_exactly(void **state)
{
    static const struct {
        struct ep_room room;
        const char *name;
    } cases[] = {
        {{.pid_max = 5400, .tasks = 100}, "kernel.pid_max is 5400"},
        {{.threads_max = 5100, .tasks = 100}, "kernel.threads-max is 5100"},
        {{.user_max = 5007, .user_tasks = 7}, "`ulimit -u`, is 5007"},
        {{.group_max = 5001, .group_tasks = 1},
         "pids.max of the control group is 5001"},
    };
    char why[EP_WHY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ep_room room = cases[i].room;
        uint64_t *limits[] = {&room.pid_max, &room.threads_max, &room.user_max,
                              &room.group_max};

        for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
            if (*limits[l] == 0)
                *limits[l] = UINT64_MAX;
        }
        room.is_counted = true;
        room.files = room.memory_bytes = room.group_bytes = UINT64_MAX;
        assert_int_equal(check((struct ep_need){.tasks = 5000}, &room, why), 0);
        assert_int_equal(check((struct ep_need){.tasks = 5001}, &room, why),
                         OV_EFULL);
        assert_non_null(strstr(why, cases[i].name));
        assert_non_null(strstr(why, "5001 processes"));
        assert_non_null(strstr(why, "room for 5000"));
    }
}

/* There are more processes than the limit allows: limits can be lowered at any
 * time. */
static void what_is_over_its_limit_already_has_no_room(void **state)
{
    struct ep_room room = small;
    char why[EP_WHY_MAX];

    (void)state;
    room.user_max = 100;
    room.user_tasks = 250;
    assert_int_equal(check((struct ep_need){.tasks = 1}, &room, why), OV_EFULL);
    assert_non_null(strstr(why, "room for 0 "));
}

/* All tasks of the machine are more than those of the user. The user's are
 * counted only when all tasks would leave no room; this process is one of
 * them. */
static void tasks_of_the_user_are_counted_where_it_matters(void **state)
{
    struct ep_room room = small;
    struct ep_need need = {.tasks = 10};
    char why[EP_WHY_MAX];

    (void)state;
    room.user_max = UINT64_C(1) << 32;
    room.user_tasks = 140;
    room.is_counted = false;
    assert_int_equal(ep_need_check(&need, &room, why), 0);
    assert_false(room.is_counted);
    assert_int_equal(room.user_tasks, 140);
    room.user_tasks = room.user_max - 9;
    assert_int_equal(ep_need_check(&need, &room, why), 0);
    assert_true(room.is_counted);
    assert_in_range(room.user_tasks, 1, 1 << 22);
}

static void open_files_are_those_of_one_process(void **state)
{
    char why[EP_WHY_MAX];

    (void)state;
    assert_int_equal(check((struct ep_need){.files = 20000}, &small, why), 0);
    assert_int_equal(check((struct ep_need){.files = 20001}, &small, why),
                     OV_EFULL);
    assert_non_null(strstr(why, "20001 open files are needed here, but the "
                                "hard limit is 20000: raise it"));
}

static void the_lesser_memory_counts(void **state)
{
    struct ep_room room = small;
    struct ep_need need = {.memory_bytes = 500 * MIB};
    char why[EP_WHY_MAX];

    (void)state;
    room.group_bytes = 500 * MIB;
    assert_int_equal(check(need, &room, why), 0);
    room.group_bytes = 499 * MIB;
    assert_int_equal(check(need, &room, why), OV_EFULL);
    assert_string_equal(why, "at least 500 MiB of memory are needed here, but "
                             "499 MiB are available (memory.max of the control "
                             "group): run fewer nodes or processes on this "
                             "machine");
    room.group_bytes = UINT64_MAX;
    room.memory_bytes = 100 * MIB;
    assert_int_equal(check(need, &room, why), OV_EFULL);
    assert_non_null(strstr(why, "100 MiB are available (MemAvailable"));
}

/* Windows count as far as stdin fills them, and stay within the bounds that
 * docs/architecture.md gives for a daemon. */
static void memory_grows_with_stdin_up_to_the_bound(void **state)
{
    struct topo_tree tree = {.nodes = 1001, .arity = 16};
    struct ep_session_sizes sizes = ep_session_sizes(tree, 500);
    struct ep_need_plan plan = {
        .daemons = 2, .nodes = 1000, .procs = 1000, .sizes = &sizes};
    uint64_t none = ep_need_of(&plan).memory_bytes, some, all;

    (void)state;
    plan.stdin_bytes = 4096;
    some = ep_need_of(&plan).memory_bytes;
    plan.stdin_bytes = UINT64_MAX;
    all = ep_need_of(&plan).memory_bytes;
    assert_int_equal(some - none, 1000 * 2 * 4096);
    assert_true(all > some);
    plan.procs = 0;
    assert_true(ep_need_of(&plan).memory_bytes <= (2 * 32 + 998) * MIB);
}

static void remote_shells_count(void **state)
{
    struct ep_need_plan plan = {.has_launcher = true};
    struct ep_need without = ep_need_of(&plan), with;

    (void)state;
    plan.shells = 300;
    with = ep_need_of(&plan);
    assert_int_equal(with.tasks - without.tasks, 300);
    assert_true(with.memory_bytes > without.memory_bytes);
}

/* The message fits into its buffer, whatever the numbers. */
static void words_of_huge_numbers_fit(void **state)
{
    struct ep_room room = {0};
    struct ep_need need = {.tasks = UINT64_MAX};
    char why[EP_WHY_MAX];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(check(need, &room, why), OV_EFULL);
        assert_true(strlen(why) < EP_WHY_MAX - 1);
        assert_int_equal(why[strlen(why) - 1], i == 1 ? 'n' : 'e');
        need.tasks = 0;
        need.files = i == 0 ? UINT64_MAX : 0;
        need.memory_bytes = i == 1 ? UINT64_MAX / 2 : 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_nodes_fit_on_a_small_machine),
        cmocka_unit_test(a_million_nodes_are_too_many_processes),
        cmocka_unit_test(each_limit_on_processes_is_met_exactly),
        cmocka_unit_test(what_is_over_its_limit_already_has_no_room),
        cmocka_unit_test(tasks_of_the_user_are_counted_where_it_matters),
        cmocka_unit_test(open_files_are_those_of_one_process),
        cmocka_unit_test(the_lesser_memory_counts),
        cmocka_unit_test(memory_grows_with_stdin_up_to_the_bound),
        cmocka_unit_test(remote_shells_count),
        cmocka_unit_test(words_of_huge_numbers_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
