/* Facts about a machine are read as the kernel writes them.
 *
 * Files of /proc and of control groups are written into a folder of this test.
 * On the real machine only facts are tested that are true on every machine.
 */
#include "endpoints/sys/room.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 4096, CANNOT = 255 };

static char root[PATH_BYTES];

/* Writes a file, and makes its folders, below the root. */
static void put(const char *name, const char *text)
{
    char path[2 * PATH_BYTES];
    FILE *file;

    snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL;
         at++) {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(root, sizeof(root), "%s/room.XXXXXX", tmp != NULL ? tmp : "/tmp");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[PATH_BYTES + 16];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

static void nothing_to_read_is_no_limit(void **state)
{
    struct ep_room room;

    (void)state;
    ep_room_read_at(root, &room);
    assert_true(room.pid_max == UINT64_MAX);
    assert_true(room.threads_max == UINT64_MAX);
    assert_int_equal(room.tasks, 0);
    assert_true(room.group_max == UINT64_MAX);
    assert_true(room.memory_bytes == UINT64_MAX);
    assert_true(room.group_bytes == UINT64_MAX);
    assert_true(room.processors >= 1);
}

static void numbers_of_the_machine_are_read(void **state)
{
    struct ep_room room;

    (void)state;
    put("/proc/sys/kernel/pid_max", "32768\n");
    put("/proc/sys/kernel/threads-max", "192730\n");
    put("/proc/loadavg", "15.04 9.00 3.21 43/3024 12345\n");
    put("/proc/meminfo", "MemTotal: 900 kB\nMemFree: 50 kB\n"
                         "MemAvailable:     700 kB\nSwapCached: 9 kB\n"
                         "SwapFree:   24 kB\n");
    ep_room_read_at(root, &room);
    assert_int_equal(room.pid_max, 32768);
    assert_int_equal(room.threads_max, 192730);
    assert_int_equal(room.tasks, 3024);
    assert_int_equal(room.memory_bytes, 724 * 1024);
}

/* Among nested groups the one with the least left counts, for each resource
 * separately; cached pages of files do not count as used. */
static void the_tightest_of_the_groups_counts(void **state)
{
    struct ep_room room;

    (void)state;
    put("/proc/self/cgroup", "9:memory:/old\n0::/a/b\n");
    put("/sys/fs/cgroup/a/b/pids.max", "max\n");
    put("/sys/fs/cgroup/a/b/pids.current", "3\n");
    put("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
    put("/sys/fs/cgroup/a/b/memory.current", "300000\n");
    put("/sys/fs/cgroup/a/b/memory.stat",
        "anon 1\nfile 5\nactive_file 100000\ninactive_file 50000\n");
    put("/sys/fs/cgroup/a/pids.max", "500\n");
    put("/sys/fs/cgroup/a/pids.current", "450\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.current", "900000\n");
    put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    put("/sys/fs/cgroup/pids.max", "1000\n");
    put("/sys/fs/cgroup/pids.current", "900\n");
    put("/sys/fs/cgroup/memory.max", "2000000\n");
    put("/sys/fs/cgroup/memory.current", "1200000\n");
    ep_room_read_at(root, &room);
    assert_int_equal(room.group_max, 500);
    assert_int_equal(room.group_tasks, 450);
    assert_int_equal(room.group_bytes, 800000);
    assert_int_equal(room.processors, 1);
    put("/sys/fs/cgroup/memory.current", "2100000\n");
    ep_room_read_at(root, &room);
    assert_int_equal(room.group_bytes, 0);
}

/* In a container only the highest visible group is read; a group outside of the
 * container cannot be read. */
static void the_highest_group_alone_is_read(void **state)
{
    struct ep_room room;

    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/pids.max", "77\n");
    put("/sys/fs/cgroup/pids.current", "7\n");
    ep_room_read_at(root, &room);
    assert_int_equal(room.group_max, 77);
    put("/proc/self/cgroup", "0::/../elsewhere\n");
    ep_room_read_at(root, &room);
    assert_true(room.group_max == UINT64_MAX);
}

static void this_machine_has_room_for_this_process(void **state)
{
    struct ep_room room;

    (void)state;
    ep_room_read(&room);
    assert_true(room.pid_max > (uint64_t)getpid());
    assert_in_range(room.tasks, 1, room.threads_max);
    assert_true(room.memory_bytes > 0);
    assert_true(room.files > 0);
    assert_int_equal(room.processors, ep_room_processors());
}

/* Runs as the user nobody, with a limit: that user's processes are counted, and
 * this process is one of them. The exit code is the number of the failing
 * line. */
static int count_as_nobody(void)
{
    struct rlimit limit = {.rlim_cur = 4000, .rlim_max = 4000};
    struct ep_room room;

    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return CANNOT;
    if (setrlimit(RLIMIT_NPROC, &limit) != 0)
        return CANNOT;
    ep_room_read(&room);
    if (room.user_max == UINT64_MAX)
        return CANNOT; /* This user has no limit. */
    if (room.user_max != 4000)
        return __LINE__;
    if (room.is_counted || room.user_tasks != room.tasks)
        return __LINE__;
    ep_room_count(&room);
    return room.is_counted && room.user_tasks >= 1 ? 0 : __LINE__;
}

static void processes_of_a_limited_user_are_counted(void **state)
{
    pid_t pid = fork();
    int status = -1;

    (void)state;
    if (pid == 0)
        _exit(count_as_nobody());
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define WITH_ROOT(test)                                                        \
    cmocka_unit_test_setup_teardown(test, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        WITH_ROOT(nothing_to_read_is_no_limit),
        WITH_ROOT(numbers_of_the_machine_are_read),
        WITH_ROOT(the_tightest_of_the_groups_counts),
        WITH_ROOT(the_highest_group_alone_is_read),
        cmocka_unit_test(this_machine_has_room_for_this_process),
        cmocka_unit_test(processes_of_a_limited_user_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
