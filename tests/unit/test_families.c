/* What real processes are doing, together with all processes that they have
 * started. */
#include "config.h"

#include "endpoints/daemon/families.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/spawn/procs.h"
#include "endpoints/sys/clock.h"

enum { LIMIT_MS = 60000 };

static int fds[2]; /* a pipe that is the stdin of the processes */

static pid_t start(const char *script)
{
    const pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        dup2(fds[0], STDIN_FILENO);
        close(fds[1]);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static struct job_stall_sample look(pid_t pid)
{
    struct ep_family family = {.pid = pid, .is_close = true};
    struct ep_procs procs = {.count = 0};

    family.sample.output_bytes = 11;
    ep_families_look(&family, 1, &procs);
    ep_procs_fini(&procs);
    assert_int_equal(family.sample.output_bytes, 11);
    return family.sample;
}

/* Looks again and again until the process does this. */
static void await(pid_t pid, enum job_doing doing)
{
    const int64_t end_ms = ep_clock_ms() + LIMIT_MS;

    while (look(pid).doing != doing)
        assert_true(ep_clock_ms() < end_ms);
}

static void end(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void one_that_reads_stdin(void **state)
{
    const pid_t pid = start("exec cat");

    (void)state;
    await(pid, JOB_DOING_READS);
    end(pid);
}

/* A child of the process reads the same stdin. */
static void one_whose_child_reads_stdin(void **state)
{
    const pid_t pid = start("cat; :");

    (void)state;
    await(pid, JOB_DOING_READS);
    assert_int_equal(write(fds[1], "word\n", 5), 5);
    await(pid, JOB_DOING_READS);
    end(pid);
}

/* A child of the process reads from another pipe. */
static void one_that_waits(void **state)
{
    const pid_t pid = start("tail -f /dev/null | cat >/dev/null; :");

    (void)state;
    await(pid, JOB_DOING_WAITS);
    end(pid);
}

static void one_that_computes_below_a_shell(void **state)
{
    const pid_t pid = start("sh -c 'while :; do :; done'; :");
    const uint64_t first_ticks = look(pid).cpu_ticks;
    const int64_t end_ms = ep_clock_ms() + LIMIT_MS;

    (void)state;
    await(pid, JOB_DOING_COMPUTES);
    while (look(pid).cpu_ticks < first_ticks + 3)
        assert_true(ep_clock_ms() < end_ms);
    end(pid);
}

static void one_that_is_stopped(void **state)
{
    const pid_t pid = start("kill -STOP $$; exec tail -f /dev/null");

    (void)state;
    await(pid, JOB_DOING_STOPPED);
    kill(pid, SIGCONT);
    await(pid, JOB_DOING_WAITS);
    end(pid);
}

/* A change is noticed when a process starts others or moves bytes. */
static void changes_are_seen(void **state)
{
    const pid_t pid = start("read line; cat /dev/null; exec cat");
    struct job_stall_sample before;

    (void)state;
    await(pid, JOB_DOING_READS);
    before = look(pid);
    assert_int_equal(look(pid).members, before.members);
    assert_int_equal(look(pid).moved_bytes, before.moved_bytes);
    assert_int_equal(write(fds[1], "word\n", 5), 5);
    while (look(pid).moved_bytes == before.moved_bytes)
        usleep(1000); /* sleep-ok: a pause between two looks */
    end(pid);
}

/* Returns the row of a process, which has been looked at. */
static const struct ep_procs_row *row_of(const struct ep_procs *procs,
                                         pid_t pid)
{
    const struct ep_procs_row *row = ep_procs_find(procs, pid);

    assert_non_null(row);
    return row;
}

/* A process that has not run since the last look is not read, and has moved
 * nothing; one that has run is, and what it has moved is seen in a look that is
 * not close. */
static void only_those_that_have_run_are_read(void **state)
{
    const pid_t still = start("exec tail -f /dev/null"),
                echo = start("exec cat");
    struct ep_family families[2] = {{.pid = still, .is_close = true},
                                    {.pid = echo, .is_close = true}};
    struct ep_procs procs = {.count = 0};
    struct job_stall_sample before[2];

    (void)state;
    await(still, JOB_DOING_WAITS);
    await(echo, JOB_DOING_READS);
    ep_families_look(families, 2, &procs);
    for (unsigned i = 0; i < 2; i++)
        families[i].is_close = false;
    ep_families_look(families, 2, &procs);
    for (unsigned i = 0; i < 2; i++)
        before[i] = families[i].sample;
    assert_int_equal(write(fds[1], "word\n", 5), 5);
    await(echo, JOB_DOING_READS);
    do
        ep_families_look(families, 2, &procs);
    while (families[1].sample.moved_bytes == before[1].moved_bytes);
    assert_true(row_of(&procs, echo)->is_anew);
    assert_false(row_of(&procs, still)->is_anew);
    assert_int_equal(families[0].sample.cpu_ticks, before[0].cpu_ticks);
    assert_int_equal(families[0].sample.moved_bytes, before[0].moved_bytes);
    assert_int_equal(families[0].sample.members, before[0].members);
    ep_procs_fini(&procs);
    end(still);
    end(echo);
}

static void one_that_is_gone_is_not_known(void **state)
{
    const pid_t pid = start("exit 0");
    struct ep_family families[2] = {{.pid = 0}, {.pid = pid}};
    struct ep_procs procs = {.count = 0};

    (void)state;
    waitpid(pid, NULL, 0);
    ep_families_look(families, 2, &procs);
    assert_int_equal(families[0].sample.doing, JOB_DOING_UNKNOWN);
    assert_int_equal(families[1].sample.doing, JOB_DOING_UNKNOWN);
    ep_families_look(families, 0, &procs);
    ep_procs_fini(&procs);
}

static int open_pipe(void **state)
{
    (void)state;
    return pipe(fds);
}

static int close_pipe(void **state)
{
    (void)state;
    close(fds[0]);
    close(fds[1]);
    return 0;
}

int main(void)
{
#define WITH_PIPE(name)                                                        \
    cmocka_unit_test_setup_teardown(name, open_pipe, close_pipe)
    const struct CMUnitTest tests[] = {
        WITH_PIPE(one_that_reads_stdin),
        WITH_PIPE(one_whose_child_reads_stdin),
        WITH_PIPE(one_that_waits),
        WITH_PIPE(one_that_computes_below_a_shell),
        WITH_PIPE(one_that_is_stopped),
        WITH_PIPE(changes_are_seen),
        WITH_PIPE(only_those_that_have_run_are_read),
        WITH_PIPE(one_that_is_gone_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
