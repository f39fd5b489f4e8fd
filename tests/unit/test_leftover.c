/* Processes that were left behind are found and ended, and no others.
 *
 * The processes hold the write end of a pipe, whose end shows that all are
 * gone.
 */
#include "config.h"

#include "endpoints/spawn/leftover.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { LIVENESS_MS = 60000 };

/* A shell that prints a line when it runs, and starts an orphan in a session of
 * its own that does so, too. */
#define FAMILY "(setsid sh -c 'echo; exec sleep 1000' &); echo; exec sleep 1000"

static void await_lines(int fd, unsigned lines)
{
    char byte;

    while (lines > 0) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};

        assert_int_equal(poll(&poller, 1, LIVENESS_MS), 1);
        assert_int_equal(read(fd, &byte, 1), 1);
        lines -= byte == '\n';
    }
}

static bool is_over(int fd, int wait_ms)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&poller, 1, wait_ms) == 1 && read(fd, &byte, 1) == 0;
}

/* Starts a shell with that mark, or without one; *out is the pipe's reading
 * end. */
static pid_t start(const char *command, const struct ep_mark *mark, int *out)
{
    char text[EP_MARK_BYTES_MAX];
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        char *const argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"},
                              (char *)command, NULL};
        char *const env[] = {(char[]){"PATH=/usr/bin:/bin"},
                             mark != NULL ? text : NULL, NULL};

        if (mark != NULL)
            ep_mark_print(mark, text);
        dup2(fds[1], 1);
        execve(argv[0], argv, env);
        _exit(127);
    }
    close(fds[1]);
    *out = fds[0];
    return pid;
}

static void reap(pid_t pid)
{
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_has_the_mark_is_ended(void **state)
{
    struct ep_mark mark, other;
    struct ep_leftover what = {.of = &mark};
    int mine, others;
    pid_t pid, stranger;

    (void)state;
    assert_int_equal(ep_mark_make((uint64_t)getpid(), 1, NULL, &mark), 0);
    other = mark;
    other.node = 2;
    pid = start(FAMILY, &mark, &mine);
    stranger = start(FAMILY, &other, &others);
    await_lines(mine, 2);
    await_lines(others, 2);
    assert_true(ep_leftover_end(&what, LIVENESS_MS) >= 2);
    assert_true(is_over(mine, LIVENESS_MS));
    assert_false(is_over(others, 0));
    assert_int_equal(ep_leftover_end(&what, LIVENESS_MS), 0);
    what.of = &other;
    assert_true(ep_leftover_end(&what, LIVENESS_MS) >= 2);
    assert_true(is_over(others, LIVENESS_MS));
    reap(pid);
    reap(stranger);
}

/* Each of the processes leaves as soon as it has started a successor. */
static void those_who_keep_forking_are_caught(void **state)
{
    struct ep_mark mark;
    struct ep_leftover what = {.of = &mark};
    int out;
    pid_t pid;

    (void)state;
    assert_int_equal(ep_mark_make((uint64_t)getpid(), 3, NULL, &mark), 0);
    pid = start("echo; f() { (sleep 0.01; f) & }; f", &mark, &out);
    await_lines(out, 1);
    reap(pid);
    for (unsigned i = 0; i < 100 && !is_over(out, 0); i++)
        assert_true(ep_leftover_end(&what, LIVENESS_MS) >= 0);
    assert_true(is_over(out, LIVENESS_MS));
}

/* Only processes that a dead daemon has left are ended, even when another
 * process has the daemon's number now. */
static void what_dead_daemons_have_left_is_ended(void **state)
{
    static const struct ep_leftover dead = {.of = NULL};
    struct ep_mark alive, gone;
    int kept, ended;
    pid_t pid, orphan;

    (void)state;
    assert_int_equal(ep_mark_make((uint64_t)getpid(), 4, NULL, &alive), 0);
    gone = alive;
    gone.start--;
    pid = start(FAMILY, &alive, &kept);
    orphan = start(FAMILY, &gone, &ended);
    await_lines(kept, 2);
    await_lines(ended, 2);
    assert_true(ep_leftover_end(&dead, LIVENESS_MS) >= 2);
    assert_true(is_over(ended, LIVENESS_MS));
    assert_false(is_over(kept, 0));
    reap(orphan);
    assert_true(
        ep_leftover_end(&(struct ep_leftover){.of = &alive}, LIVENESS_MS) >= 2);
    reap(pid);
}

/* All descendants are ended, whatever is in their environment. */
static void what_is_below_is_ended_but_for_the_spared(void **state)
{
    struct ep_mark mark;
    struct ep_leftover what = {.of = &mark, .is_below = true};
    struct ep_procs_killed found;
    int bare, spared;
    pid_t pid;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(ep_mark_make((uint64_t)getpid(), 5, NULL, &mark), 0);
    pid = start(FAMILY, NULL, &bare);
    what.spare = start("sleep 1000 & echo; wait", NULL, &spared);
    await_lines(bare, 2);
    await_lines(spared, 1);
    assert_int_equal(ep_leftover_kill(&what, &found), 0);
    assert_int_equal(found.alive, 2);
    assert_true(is_over(bare, LIVENESS_MS));
    assert_false(is_over(spared, 0));
    reap(pid);
    assert_int_equal(ep_procs_kill_below(getpid(), &found), 0);
    assert_int_equal(found.alive, 2);
    assert_true(is_over(spared, LIVENESS_MS));
    while (waitpid(-1, NULL, 0) > 0)
        ;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void the_forked_one_ends_it_and_itself(void **state)
{
    struct ep_mark gone;
    int out;
    pid_t pid;

    (void)state;
    assert_int_equal(ep_mark_make((uint64_t)getpid(), 6, NULL, &gone), 0);
    gone.start--;
    pid = start(FAMILY, &gone, &out);
    await_lines(out, 2);
    /* The test's parent reaps it. A sweep of another session may be at work,
     * which may have looked earlier. */
    do {
        assert_true(ep_leftover_fork(0) >= 0);
    } while (!is_over(out, 100));
    reap(pid);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_the_mark_is_ended),
        cmocka_unit_test(those_who_keep_forking_are_caught),
        cmocka_unit_test(what_dead_daemons_have_left_is_ended),
        cmocka_unit_test(what_is_below_is_ended_but_for_the_spared),
        cmocka_unit_test(the_forked_one_ends_it_and_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
