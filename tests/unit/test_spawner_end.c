/* No process that the spawner started outlives the order to end, the owner's
 * death or the spawner's own death.
 *
 * The tests see that a process is gone, whatever its parent is by then, because
 * each holds the write end of a pipe, whose reader waits for its end.
 */
#include "config.h"

#include "endpoints/spawn/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
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

#include "endpoints/spawn/setup.h"
#include "endpoints/sys/clock.h"
#include "tests/unit/spawn_rig.h"

enum { LIVENESS_MS = 60000 };

/* The process leaves its group, its session and its parent, and ignores what
 * signals it can. A line of output says that it has done so. */
#define ESCAPE                                                                 \
    "trap '' TERM HUP INT; (setsid sh -c 'trap \"\" TERM HUP INT; "            \
    "(setsid sh -c \"echo; while :; do sleep 1000; done\" &) ; exit' &); "

/* Reads one line, then no further byte: the processes with the pipe are alive
 * and silent. */
static void await_line(int fd)
{
    char byte = 0;

    while (byte != '\n') {
        struct pollfd poller = {.fd = fd, .events = POLLIN};

        assert_int_equal(poll(&poller, 1, LIVENESS_MS), 1);
        assert_int_equal(read(fd, &byte, 1), 1);
    }
}

static void await_nobody(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    char byte;

    assert_int_equal(poll(&poller, 1, LIVENESS_MS), 1);
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
}

static void end_kills_all_descendants(void **state)
{
    struct rig *rig = *state;
    int fds[2];

    rig_shell(rig, ESCAPE "exit 0");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    for (uint32_t i = 0; i < 8; i++)
        rig_start(rig, i, fds[1]);
    rig_shell(rig, "trap '' TERM; sleep 1000");
    rig_start(rig, 8, fds[1]);
    close(fds[1]);
    for (unsigned i = 0; i < 8; i++)
        await_line(fds[0]);
    rig_wait(rig, &rig->exited, 8);
    assert_int_equal(ep_spawner_end(rig->sp), 0);
    rig_wait(rig, &rig->ended, 1);
    assert_int_equal(rig->exited, 9);
    assert_int_equal(WTERMSIG(rig->procs[8].status), SIGKILL);
    await_nobody(fds[0]);
}

/* Processes that fork without end, each parent leaving at once, are all
 * killed. */
static void end_catches_those_who_keep_forking(void **state)
{
    struct rig *rig = *state;
    const char *script = rig_file(
        rig, "comet", "#!/bin/sh\nsleep 0.01\n\"$0\" &\nexit 0\n", 0755);
    int fds[2];

    rig_job(rig, (const char *const[]){script, NULL});
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    for (uint32_t i = 0; i < 4; i++)
        rig_start(rig, i, fds[1]);
    close(fds[1]);
    rig_wait(rig, &rig->exited, 4);
    assert_int_equal(ep_spawner_end(rig->sp), 0);
    rig_wait(rig, &rig->ended, 1);
    await_nobody(fds[0]);
}

static void end_without_processes_is_answered(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(ep_spawner_end(rig->sp), 0);
    rig_wait(rig, &rig->ended, 1);
    rig_shell(rig, "echo again");
    assert_string_equal(rig_capture(rig), "again\n");
    assert_int_equal(ep_spawner_end(rig->sp), 0);
    rig_wait(rig, &rig->ended, 2);
}

static void close_kills_all_descendants(void **state)
{
    struct rig *rig = *state;
    int fds[2];

    rig_shell(rig, ESCAPE "sleep 1000");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    for (uint32_t i = 0; i < 4; i++)
        rig_start(rig, i, fds[1]);
    close(fds[1]);
    for (unsigned i = 0; i < 4; i++)
        await_line(fds[0]);
    ep_spawner_close(rig->sp);
    rig->sp = NULL;
    await_nobody(fds[0]);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
}

/* Starts an owner in a process of its own, which starts `command` with the pipe
 * and waits to be killed. Every process involved holds the pipe, except the
 * spawner. */
static pid_t owner_fork(const char *command, unsigned grace_ms, int out_fd)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct ep_spawner *sp;
        const char *const argv[] = {"/bin/sh", "-c", command, NULL};
        const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
        struct ep_spawn_job job = {.program.argv = argv, .env = env};
        struct ep_spawn_proc proc = {.job = 1, .stdio = {-1, out_fd, 2}};

        if (ep_spawner_open(grace_ms, &sp) != 0 ||
            ep_spawner_job(sp, 1, &job) != 0 ||
            ep_spawner_start(sp, &proc) != 0)
            _exit(1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* Kills the owner. This process becomes the reaper of what the dead owner
 * leaves, so that the end of the spawner can be seen. */
static void owner_kill(pid_t owner)
{
    int status;

    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_true(WIFSIGNALED(status));
}

static void killed_owner_leaves_nothing(void **state)
{
    int fds[2];
    int status;
    pid_t owner;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    owner = owner_fork(ESCAPE "sleep 1000", 0, fds[1]);
    close(fds[1]);
    await_line(fds[0]);
    owner_kill(owner);
    await_nobody(fds[0]);
    /* The spawner has become a child of this process, and no other process has.
     */
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* Returns the state letter of a process: S when it waits. */
static char state_of(pid_t pid)
{
    char path[64];
    char text[512] = "";
    const char *after;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    after = strrchr(text, ')');
    assert_non_null(after);
    return after[2];
}

/* Waits until the spawner has seen that its owner is dead, which closes its
 * socket, and has nothing left to do. */
static void await_orphaned(pid_t spawner)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)spawner,
             EP_SPAWN_OWNER_FD);
    while (access(path, F_OK) == 0)
        sched_yield();
    while (state_of(spawner) == 'R')
        sched_yield();
}

/* Within the grace time a process lives on and may end by itself; the spawner
 * then ends without waiting for the rest of the grace time, which is an hour
 * here. */
static void killed_owner_grants_its_grace(void **state)
{
    int fds[2];
    int go[2];
    int status;
    char command[80];
    char text[16] = "";
    pid_t owner;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    /* The process names the spawner, then waits for this test by looking into
     * /proc. */
    snprintf(command, sizeof(command),
             "echo $PPID; read x </proc/%d/fd/%d; echo y", (int)getpid(),
             go[0]);
    owner = owner_fork(command, 3600 * 1000, fds[1]);
    close(fds[1]);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    owner_kill(owner);
    await_orphaned((pid_t)atoi(text));
    assert_int_equal(write(go[1], "\n", 1), 1);
    close(go[1]);
    assert_int_equal(read(fds[0], text, 1), 1);
    assert_int_equal(text[0], 'y');
    await_line(fds[0]);
    await_nobody(fds[0]);
    close(go[0]);
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* The owner leaves the spawner and lives on: the processes go on and end by
 * themselves; then the spawner ends, too. */
static void a_spawner_that_is_left_waits(void **state)
{
    struct rig *rig = *state;
    int fds[2], go[2];
    int status;
    char command[80];
    pid_t spawner;

    rig_reopen(rig, EP_SPAWNER_WAITS);
    spawner = (pid_t)ep_spawner_pid(rig->sp);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    snprintf(command, sizeof(command), "echo; read x </proc/%d/fd/%d; echo",
             (int)getpid(), go[0]);
    rig_shell(rig, command);
    rig_start(rig, 0, fds[1]);
    close(fds[1]);
    await_line(fds[0]);
    ep_spawner_leave(rig->sp);
    rig->sp = NULL;
    await_orphaned(spawner);
    assert_int_equal(waitpid(spawner, &status, WNOHANG), 0);
    assert_int_equal(write(go[1], "\n", 1), 1);
    close(go[1]);
    await_line(fds[0]);
    await_nobody(fds[0]);
    close(go[0]);
    assert_int_equal(waitpid(spawner, &status, 0), spawner);
    assert_int_equal(status, 0);
}

static void killed_spawner_takes_its_processes_along(void **state)
{
    struct rig *rig = *state;
    int fds[2];

    rig_shell(rig, "echo; exec sleep 1000");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    for (uint32_t i = 0; i < 3; i++)
        rig_start(rig, i, fds[1]);
    close(fds[1]);
    for (unsigned i = 0; i < 3; i++)
        await_line(fds[0]);
    assert_int_equal(kill((pid_t)ep_spawner_pid(rig->sp), SIGKILL), 0);
    rig_wait(rig, &rig->lost, 1);
    await_nobody(fds[0]);
    assert_true(ep_spawner_end(rig->sp) != 0);
}

/* The owner decides about signals that a terminal or a resource manager sends
 * to the whole group; the spawner stays. */
static void group_signals_do_not_end_the_spawner(void **state)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                  SIGTSTP, SIGUSR1, SIGPIPE};
    struct rig *rig = *state;
    pid_t spawner = (pid_t)ep_spawner_pid(rig->sp);

    rig_shell(rig, "echo");
    rig_capture(rig); /* the spawner serves requests when this returns */
    assert_int_equal(getpgid(spawner), spawner);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_int_equal(kill(spawner, signals[i]), 0);
    rig_shell(rig, "echo still here");
    assert_string_equal(rig_capture(rig), "still here\n");
}

#define RIG_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* The owner reads only when the process has been gone for some time. */
static void an_exit_has_the_time_of_the_spawner(void **state)
{
    struct rig *rig = *state;
    uint64_t gone_ns;

    rig_shell(rig, "exit 7");
    rig_start(rig, 1, -1);
    rig_wait(rig, &rig->started, 1);
    while (kill((pid_t)rig->procs[1].pid, 0) == 0)
        sched_yield();
    gone_ns = ep_clock_ns();
    while (ep_clock_ns() - gone_ns < 50 * UINT64_C(1000000))
        sched_yield();
    rig_wait(rig, &rig->exited, 1);
    assert_in_range(rig->procs[1].at_ns, gone_ns - 1000000000,
                    gone_ns + 40000000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIG_TEST(end_kills_all_descendants),
        RIG_TEST(end_catches_those_who_keep_forking),
        RIG_TEST(end_without_processes_is_answered),
        RIG_TEST(close_kills_all_descendants),
        cmocka_unit_test(killed_owner_leaves_nothing),
        cmocka_unit_test(killed_owner_grants_its_grace),
        RIG_TEST(a_spawner_that_is_left_waits),
        RIG_TEST(killed_spawner_takes_its_processes_along),
        RIG_TEST(group_signals_do_not_end_the_spawner),
        RIG_TEST(an_exit_has_the_time_of_the_spawner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
