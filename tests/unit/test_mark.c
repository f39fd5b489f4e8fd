/* Marks: written and read again, found in an environment, and believed. */
#include "config.h"

#include "endpoints/spawn/mark.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/spawn/procs.h"
#include "overlay/base/err.h"

static struct ep_mark mark_of_text(const char *value)
{
    struct ep_mark mark;

    assert_int_equal(ep_mark_parse(value, &mark), 0);
    return mark;
}

static void a_mark_is_read_as_it_was_written(void **state)
{
    const struct ep_mark mark = {.session = UINT64_C(0xfedcba9876543210),
                                 .start = UINT64_C(123456789012),
                                 .place = 7,
                                 .node = 4294967294u,
                                 .pid = 4194303,
                                 .cgroup = "memory:/a.b/c;:/d"};
    char text[EP_MARK_BYTES_MAX];
    struct ep_mark read;

    (void)state;
    ep_mark_print(&mark, text);
    assert_string_equal(text, EP_MARK_NAME
                        "=fedcba9876543210.4294967294.4194303.123456789012."
                        "0000000000000007.memory:/a.b/c;:/d");
    read = mark_of_text(strchr(text, '=') + 1);
    assert_true(read.session == mark.session && read.start == mark.start &&
                read.place == mark.place && read.node == mark.node &&
                read.pid == mark.pid);
    assert_string_equal(read.cgroup, mark.cgroup);
}

static void what_is_not_well_formed_is_no_mark(void **state)
{
    static const char *const bad[] = {
        "", "xylem", "1.2.3.4.5", "1.2.0.4.5.", "1.2.-3.4.5.", "g.2.3.4.5.",
    };
    char *long_one = calloc(1, 2 * EP_MARK_CGROUP_MAX);
    struct ep_mark mark;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(ep_mark_parse(bad[i], &mark), OV_EPROTO);
    assert_non_null(long_one);
    strcpy(long_one, "1.2.3.4.5.");
    memset(long_one + 10, 'x', EP_MARK_CGROUP_MAX);
    assert_int_equal(ep_mark_parse(long_one, &mark), OV_EPROTO);
    long_one[9 + EP_MARK_CGROUP_MAX] = '\0';
    assert_int_equal(ep_mark_parse(long_one, &mark), 0);
    free(long_one);
}

static void a_cgroup_is_the_same_or_below_in_every_hierarchy(void **state)
{
    struct ep_mark two = mark_of_text("1.2.3.4.5.memory:/job/1;:/slice/a");
    struct ep_mark none = mark_of_text("1.2.3.4.5.");

    (void)state;
    assert_true(ep_mark_has_cgroup(&two, "4:memory:/job/1\n3:cpu:/\n"
                                         "0::/slice/a\n"));
    assert_true(ep_mark_has_cgroup(&two, "0::/slice/a/b\n"
                                         "4:memory:/job/1/step\n"));
    assert_false(ep_mark_has_cgroup(&two, "4:memory:/job/10\n0::/slice/a\n"));
    assert_false(ep_mark_has_cgroup(&two, "4:memory:/job\n0::/slice/a\n"));
    assert_false(ep_mark_has_cgroup(&two, "4:memory:/job/1\n0::/slice\n"));
    assert_false(ep_mark_has_cgroup(&two, "4:memory:/job/1\n"));
    assert_false(ep_mark_has_cgroup(&two, "4:cpu:/job/1\n0::/slice/a\n"));
    assert_false(ep_mark_has_cgroup(&two, "memory\n"));
    assert_true(ep_mark_has_cgroup(&none, "0::/anything\n"));
    assert_true(ep_mark_has_cgroup(&none, ""));
}

/* Starts a process with that environment; it runs when the call returns. */
static pid_t start(char *const *env)
{
    char *argv[] = {(char[]){"sleep"}, (char[]){"1000"}, NULL};
    int fds[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        environ = (char **)env;
        execvp(argv[0], argv);
        _exit(127);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 0);
    close(fds[0]);
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The mark is found at any place: environments are read in pieces, which may
 * end within the mark. A search that compared only the end of the name would
 * find another variable. */
static void a_mark_is_found_in_any_environment(void **state)
{
    static char before[40000];
    const struct ep_mark mark = {
        .session = 1, .pid = 3, .start = 4, .place = 5, .cgroup = ":/x"};
    char text[EP_MARK_BYTES_MAX];

    (void)state;
    ep_mark_print(&mark, text);
    for (size_t len = 16000; len < 16500; len += 37) {
        char *env[] = {before, (char[]){"NOT_" EP_MARK_NAME "=1.2.3.4.5."},
                       text, (char[]){"Z=z"}, NULL};
        struct ep_mark found;
        pid_t pid;

        memset(before, 'b', len);
        before[1] = '=';
        before[len] = '\0';
        pid = start(env);
        assert_int_equal(ep_mark_find(pid, &found), 0);
        assert_string_equal(found.cgroup, mark.cgroup);
        end(pid);
        env[2] = NULL;
        pid = start(env);
        assert_int_equal(ep_mark_find(pid, &found), OV_ENOENT);
        end(pid);
    }
}

/* A mark belongs to processes that began after the marking process, in the same
 * place. */
static void a_mark_is_on_those_who_can_be_the_daemons(void **state)
{
    char *env[] = {NULL};
    struct ep_process it;
    struct ep_mark mark, other;
    pid_t pid = start(env);

    (void)state;
    assert_int_equal(ep_mark_make(1, 2, NULL, &mark), 0);
    assert_int_equal(mark.pid, getpid());
    assert_int_equal(ep_process_look(pid, &it), 0);
    assert_int_equal(it.parent, getpid());
    assert_true(ep_mark_is_on(&mark, pid, it.start));
    assert_false(ep_mark_is_on(&mark, pid, mark.start - 1));
    other = mark;
    other.place++;
    assert_false(ep_mark_is_on(&other, pid, it.start));
    other = mark;
    strcpy(other.cgroup, ":/nowhere/of/this/name");
    assert_false(ep_mark_is_on(&other, pid, it.start));
    end(pid);
    assert_false(ep_mark_is_on(&mark, pid, it.start));
}

/* A starter of daemons looks up the home once for all of them. */
static void a_home_that_is_told_is_the_one_that_is_found(void **state)
{
    static const char *const wrong[] = {"", ".", "1", "x.:/a", "1:/a"};
    char home[EP_MARK_BYTES_MAX], text[EP_MARK_BYTES_MAX],
        expected[EP_MARK_BYTES_MAX];
    struct ep_mark mark;

    (void)state;
    assert_int_equal(ep_mark_make(1, 2, NULL, &mark), 0);
    assert_true(mark.place == ep_mark_place());
    ep_mark_print(&mark, expected);
    assert_int_equal(ep_mark_home(home), 0);
    assert_int_equal(ep_mark_make(1, 2, home, &mark), 0);
    ep_mark_print(&mark, text);
    assert_string_equal(text, expected);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(ep_mark_make(1, 2, wrong[i], &mark), OV_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_is_read_as_it_was_written),
        cmocka_unit_test(what_is_not_well_formed_is_no_mark),
        cmocka_unit_test(a_cgroup_is_the_same_or_below_in_every_hierarchy),
        cmocka_unit_test(a_mark_is_found_in_any_environment),
        cmocka_unit_test(a_mark_is_on_those_who_can_be_the_daemons),
        cmocka_unit_test(a_home_that_is_told_is_the_one_that_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
