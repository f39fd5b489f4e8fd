/* The spawner starts processes as its header promises. */
#include "config.h"

#include "endpoints/spawn/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/sys/fds.h"
#include "overlay/base/err.h"
#include "tests/unit/spawn_rig.h"

/* Starts process 0 of job 1, which must fail, and checks how. */
static void expect_failure(struct rig *rig, const char *step, int err)
{
    unsigned wanted = rig->failed + 1;

    rig->procs[0] = (struct rig_proc){0};
    rig_start(rig, 0, -1);
    rig_wait(rig, &rig->failed, wanted);
    assert_string_equal(rig->procs[0].step, step);
    assert_int_equal(rig->procs[0].err, err);
}

/* valgrind keeps a descriptor limit of its own that exec does not pass on, and
 * does not survive an exec that fails because of its size. */
static void skip_when_wrapped(void)
{
    if (getenv("XYLEM_TEST_WRAP") != NULL)
        skip();
}

static void exec_failure_is_reported_with_step_and_errno(void **state)
{
    struct rig *rig = *state;
    const char *plain = rig_file(rig, "plain", "not a program\n", 0644);

    rig_job(rig, (const char *const[]){"no-such-program", NULL});
    expect_failure(rig, "exec", ENOENT);
    rig_job(rig, (const char *const[]){plain, NULL});
    expect_failure(rig, "exec", EACCES);
    rig_job(rig, (const char *const[]){"/dev/null/program", NULL});
    expect_failure(rig, "exec", ENOTDIR);
    assert_int_equal(rig->started, 0);
}

static void directory_failure_is_reported_with_step_and_errno(void **state)
{
    struct rig *rig = *state;
    struct ep_spawn_job job = {
        .program.argv = (const char *const[]){"true", NULL},
        .program.cwd = "/dev/null",
    };

    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    expect_failure(rig, "chdir", ENOTDIR);
    job.program.cwd = "/no/such/directory";
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    expect_failure(rig, "chdir", ENOENT);
}

/* The number of a process that failed is free at once, that of a living one is
 * not; a job must be known. */
static void impossible_starts_are_reported(void **state)
{
    struct rig *rig = *state;

    expect_failure(rig, "start", ENOENT);
    rig_shell(rig, "exec sleep 1000");
    rig->procs[0] = (struct rig_proc){0};
    rig_start(rig, 0, -1);
    rig_wait(rig, &rig->started, 1);
    rig->procs[0].pid = 0;
    rig_start(rig, 0, -1);
    rig_wait(rig, &rig->failed, 2);
    assert_string_equal(rig->procs[0].step, "start");
    assert_int_equal(rig->procs[0].err, EEXIST);
}

static void bad_requests_are_refused(void **state)
{
    struct rig *rig = *state;
    const char *const nothing[] = {NULL};
    struct ep_spawn_job job = {.program.argv = nothing};
    struct ep_spawn_proc proc = {
        .job = 1,
        .env = (const char *const[]){"NOVALUE", NULL},
        .stdio = {-1, -1, -1},
    };

    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), OV_EINVAL);
    assert_int_equal(ep_spawner_start(rig->sp, &proc), OV_EINVAL);
    proc.env = NULL;
    proc.stdio[1] = 9999;
    assert_int_equal(ep_spawner_start(rig->sp, &proc), OV_EINVAL);
    assert_int_equal(ep_spawner_signal(rig->sp, 1, 0), OV_EINVAL);
    assert_int_equal(ep_spawner_signal(rig->sp, 1, 65), OV_EINVAL);
}

static void directory_is_entered_and_told_in_pwd(void **state)
{
    struct rig *rig = *state;
    char expected[400];
    char link[320];
    struct ep_spawn_job job = {
        .program.argv =
            (const char *const[]){
                "sh", "-c", "echo $PWD; env | grep -c ^PWD=; pwd -P", NULL},
        .env = (const char *const[]){"PATH=/bin:/usr/bin", "PWD=/old", NULL},
        .program.cwd = link,
    };

    snprintf(link, sizeof(link), "%s/link", rig->folder);
    assert_int_equal(symlink("/usr", link), 0);
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    snprintf(expected, sizeof(expected), "%s\n1\n/usr\n", link);
    assert_string_equal(rig_capture(rig), expected);
}

static void missing_optional_directory_falls_back_to_our_own(void **state)
{
    struct rig *rig = *state;
    char here[4096];
    struct ep_spawn_job job = {
        .program.argv = (const char *const[]){"/usr/bin/printenv", "PWD", NULL},
        .env = (const char *const[]){"PWD=/no/such", NULL},
        .program.cwd = "/no/such",
        .program.cwd_is_optional = true,
    };

    assert_non_null(getcwd(here, sizeof(here) - 1));
    strcat(here, "\n");
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    assert_string_equal(rig_capture(rig), here);
    assert_int_equal(rig->elsewhere, 1);
    assert_int_equal(rig->elsewhere_err, ENOENT);
    assert_int_equal(rig->started, 1);
}

/* The two other services of execvp(): PATH, and scripts without "#!". */
static void program_is_searched_in_the_path_of_the_job(void **state)
{
    struct rig *rig = *state;
    char path[320];
    const char *const argv[] = {"xylem-test-script", "x", NULL};
    const char *const env[] = {path, NULL};
    struct ep_spawn_job job = {.program.argv = argv, .env = env};

    snprintf(path, sizeof(path), "PATH=/no/such:%s", rig->folder);
    rig_file(rig, "xylem-test-script", "echo script $1\n", 0755);
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    assert_string_equal(rig_capture(rig), "script x\n");
}

static void additions_replace_settings_of_the_same_name(void **state)
{
    struct rig *rig = *state;
    int fds[2];
    struct ep_spawn_proc proc = {
        .job = 1,
        .env = (const char *const[]){"COLOUR=blue", "XYLEM_RANK=7",
                                     "COLOUR=green", "COLOURS=2", NULL},
        .stdio = {-1, -1, -1},
    };

    rig_job(rig, (const char *const[]){"env", NULL});
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    proc.stdio[1] = fds[1];
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    close(fds[1]);
    assert_string_equal(rig_read_all(fds[0]),
                        "PATH=/usr/local/bin:/usr/bin:/bin\nLC_ALL=C\n"
                        "PWD=/elsewhere\nXYLEM_RANK=7\nCOLOUR=green\n"
                        "COLOURS=2\n");
    rig_wait(rig, &rig->exited, 1);
}

/* Returns the processors that the system binds a process to. */
static const char *bound_to(struct rig *rig, const char *cpus)
{
    struct ep_spawn_proc proc = {.job = 1, .cpus = cpus, .stdio = {-1, -1, -1}};
    unsigned wanted = rig->exited + 1;
    int fds[2];

    memset(&rig->procs[0], 0, sizeof(rig->procs[0]));
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    proc.stdio[1] = fds[1];
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    close(fds[1]);
    rig_wait(rig, &rig->exited, wanted);
    return rig_read_all(fds[0]);
}

/* A process is bound to one processor that may be used here, even when the list
 * has some that do not exist. Without a list it has all of the spawner's. */
static void a_process_is_bound_to_processors(void **state)
{
    struct rig *rig = *state;
    cpu_set_t all;
    char one[16], many[64], is_one[32], unbound[256];
    size_t cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    snprintf(one, sizeof(one), "%zu", cpu);
    snprintf(many, sizeof(many), "%zu,9000-9003,60000", cpu);
    snprintf(is_one, sizeof(is_one), "%zu\n", cpu);
    rig_shell(rig,
              "sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status");
    snprintf(unbound, sizeof(unbound), "%s", bound_to(rig, NULL));
    assert_string_equal(bound_to(rig, one), is_one);
    assert_string_equal(bound_to(rig, many), is_one);
    assert_string_equal(bound_to(rig, "0-65535"), unbound);
    assert_string_equal(bound_to(rig, NULL), unbound);
}

static void processors_that_are_not_there_are_reported(void **state)
{
    struct rig *rig = *state;
    struct ep_spawn_proc proc = {
        .job = 1, .cpus = "9000-9003", .stdio = {-1, -1, -1}};

    rig_shell(rig, "exit 0");
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    rig_wait(rig, &rig->failed, 1);
    assert_string_equal(rig->procs[0].step, "bind");
    assert_int_equal(rig->procs[0].err, EINVAL);
}

static void exit_status_and_signals_are_reported(void **state)
{
    struct rig *rig = *state;

    rig_shell(rig, "exit 7");
    rig_start(rig, 1, -1);
    rig_shell(rig, "kill -ABRT $$");
    rig_start(rig, 2, -1);
    rig_wait(rig, &rig->exited, 2);
    assert_true(WIFEXITED(rig->procs[1].status));
    assert_int_equal(WEXITSTATUS(rig->procs[1].status), 7);
    assert_true(WIFSIGNALED(rig->procs[2].status));
    assert_int_equal(WTERMSIG(rig->procs[2].status), SIGABRT);
}

/* A process inherits no blocked or ignored signals from the owner. */
static void signal_mask_and_ignored_signals_are_reset(void **state)
{
    struct rig *rig = *state;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGRTMIN + 4, SIG_IGN);
    rig_reopen(rig, 0);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGRTMIN + 4, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    rig_job(rig, (const char *const[]){"grep", "-E", "^Sig(Blk|Ign)",
                                       "/proc/self/status", NULL});
    assert_string_equal(rig_capture(rig), "SigBlk:\t0000000000000000\n"
                                          "SigIgn:\t0000000000000000\n");
}

static void every_other_descriptor_is_closed(void **state)
{
    struct rig *rig = *state;
    int leaky[20];

    for (unsigned i = 0; i < 20; i++)
        leaky[i] = open("/dev/null", O_RDONLY);
    rig_reopen(rig, 0);
    rig_shell(rig, "ls /proc/self/fd");
    /* Descriptor 3 is the folder that ls reads. */
    assert_string_equal(rig_capture(rig), "0\n1\n2\n3\n");
    for (unsigned i = 0; i < 20; i++)
        close(leaky[i]);
    /* Descriptors of the spawner: stdio, its socket, its signals; and "." and
     * "..". */
    assert_int_equal(rig_fd_count(ep_spawner_pid(rig->sp)), 5 + 2);
}

/* Closes descriptors as on kernels without close_range(). */
static void descriptors_are_closed_by_listing_too(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        int low = open("/dev/null", O_RDONLY);
        int kept = fcntl(low, F_DUPFD, 50);
        int high = fcntl(low, F_DUPFD, 200);

        close(low);
        ep_fds_close_listed(60);
        _exit(fcntl(kept, F_GETFD) == 0 && fcntl(high, F_GETFD) < 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* The owner raises its limit later; programs get the limit from the start. */
static void descriptor_limit_is_that_of_our_start(void **state)
{
    struct rig *rig = *state;
    struct rlimit before;
    struct rlimit limit;

    skip_when_wrapped();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    rig_reopen(rig, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    rig_shell(rig, "ulimit -Sn");
    assert_string_equal(rig_capture(rig), "256\n");
}

static void umask_is_inherited(void **state)
{
    struct rig *rig = *state;
    mode_t before = umask(0137);

    rig_reopen(rig, 0);
    umask(before);
    rig_shell(rig, "umask");
    assert_string_equal(rig_capture(rig), "0137\n");
}

/* Fields 1, 5 and 6 of stat are pid, process group, and session. */
static void process_leads_its_group_or_session(void **state)
{
    struct rig *rig = *state;
    const char *const argv[] = {"/usr/bin/cut", "-d ", "-f1,5,6",
                                "/proc/self/stat", NULL};
    struct ep_spawn_job job = {.program.argv = argv};
    int pid, group, session;

    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    assert_int_equal(
        sscanf(rig_capture(rig), "%d %d %d", &pid, &group, &session), 3);
    assert_int_equal(group, pid);
    assert_int_equal(session, getsid(0));
    job.new_session = true;
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    assert_int_equal(
        sscanf(rig_capture(rig), "%d %d %d", &pid, &group, &session), 3);
    assert_int_equal(group, pid);
    assert_int_equal(session, pid);
}

static void stdio_is_given_or_null(void **state)
{
    struct rig *rig = *state;
    int in[2], out[2], err[2];
    struct ep_spawn_proc proc = {.job = 1};

    rig_shell(rig, "cat; echo out; echo err >&2");
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    memcpy(proc.stdio, (int[]){in[0], out[1], err[1]}, sizeof(proc.stdio));
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    assert_int_equal(write(in[1], "in\n", 3), 3);
    close(in[1]);
    assert_string_equal(rig_read_all(out[0]), "in\nout\n");
    assert_string_equal(rig_read_all(err[0]), "err\n");
    rig_wait(rig, &rig->exited, 1);

    rig_shell(rig, "a=$(readlink /proc/$$/fd/0 /proc/$$/fd/1); echo $a >&2");
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    memcpy(proc.stdio, (int[]){-1, -1, err[1]}, sizeof(proc.stdio));
    proc.proc = 1;
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    close(err[1]);
    assert_string_equal(rig_read_all(err[0]), "/dev/null /dev/null\n");
    rig_wait(rig, &rig->exited, 2);
}

/* The descriptor has the requested number, and none is open beyond it. */
static void a_further_descriptor_has_its_number(void **state)
{
    struct rig *rig = *state;
    int fds[2];
    struct ep_spawn_proc proc = {.job = 1, .stdio = {-1, -1, -1}};

    rig_shell(rig, "ls /proc/self/fd >&3; echo end >&3");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    proc.further = fds[1];
    assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    close(fds[1]);
    /* Descriptor 4 is the folder that ls reads. */
    assert_string_equal(rig_read_all(fds[0]), "0\n1\n2\n3\n4\nend\n");
    rig_wait(rig, &rig->exited, 1);
}

static void signals_reach_the_whole_group(void **state)
{
    struct rig *rig = *state;
    int fds[2];
    char byte;

    /* Shell and sleep hold the pipe, whose end shows that both are gone. */
    rig_shell(rig, "sleep 1000 & echo; wait");
    for (uint32_t proc = 0; proc < 2; proc++) {
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        rig_start(rig, proc, fds[1]);
        close(fds[1]);
        assert_int_equal(read(fds[0], &byte, 1), 1);
        assert_int_equal(
            ep_spawner_signal(rig->sp, proc, proc == 0 ? SIGTERM : SIGHUP), 0);
        assert_string_equal(rig_read_all(fds[0]), "");
        rig_wait(rig, &rig->exited, proc + 1);
    }
    assert_int_equal(WTERMSIG(rig->procs[0].status), SIGTERM);
    assert_int_equal(WTERMSIG(rig->procs[1].status), SIGHUP);
    /* A process that has already ended is no error. */
    assert_int_equal(ep_spawner_signal(rig->sp, 0, SIGTERM), 0);
    rig_shell(rig, "echo alive");
    assert_string_equal(rig_capture(rig), "alive\n");
}

/* A file with a lease cannot be opened, so an exec of it hangs until the lease
 * is given back: this acts as a file system that does not answer. */
static void hanging_exec_delays_nobody_and_keeps_its_signals(void **state)
{
    struct rig *rig = *state;
    const char *slow = rig_file(rig, "slow", "#!/bin/sh\nexit 3\n", 0755);
    int lease = open(slow, O_RDONLY | O_CLOEXEC);

    assert_true(lease >= 0);
    signal(SIGIO, SIG_IGN);
    if (fcntl(lease, F_SETLEASE, F_WRLCK) != 0) {
        close(lease);
        skip(); /* this file system has no leases */
    }
    rig_job(rig, (const char *const[]){slow, NULL});
    rig_start(rig, 1, -1);
    rig_start(rig, 2, -1);
    rig_start(rig, 3, -1);
    rig_shell(rig, "echo quick");
    assert_string_equal(rig_capture(rig), "quick\n");
    assert_int_equal(rig->started, 1);

    assert_int_equal(ep_spawner_signal(rig->sp, 2, SIGTERM), 0);
    assert_int_equal(ep_spawner_signal(rig->sp, 3, SIGKILL), 0);
    rig_wait(rig, &rig->exited, 2);
    assert_int_equal(WTERMSIG(rig->procs[3].status), SIGKILL);
    assert_int_equal(rig->procs[2].pid, 0);

    assert_int_equal(fcntl(lease, F_SETLEASE, F_UNLCK), 0);
    close(lease);
    rig_wait(rig, &rig->exited, 4);
    assert_int_equal(WEXITSTATUS(rig->procs[1].status), 3);
    assert_true(rig->procs[2].pid > 0);
    signal(SIGIO, SIG_DFL);
}

/* 1.5 MiB of environment are sent before anybody reads the socket: they are
 * queued and arrive complete. */
static void big_environment_arrives_whole(void **state)
{
    enum { COUNT = 15, BYTES = 100000 };
    struct rig *rig = *state;
    static char text[COUNT][BYTES + 1];
    const char *env[COUNT + 2] = {[COUNT] = "PATH=/usr/bin:/bin"};
    struct ep_spawn_job job = {
        .program.argv = (const char *const[]){"sh", "-c", "env | wc -c", NULL},
        .env = env,
    };

    for (unsigned i = 0; i < COUNT; i++) {
        memset(text[i], 'a' + (int)i, BYTES);
        memcpy(text[i], "X00=", 4);
        text[i][1] = (char)('a' + (int)i);
        env[i] = text[i];
    }
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    assert_true(atoi(rig_capture(rig)) > COUNT * (BYTES + 1));
}

static void too_big_a_job_is_refused_or_reported(void **state)
{
    struct rig *rig = *state;
    const char *env[2] = {0};
    struct ep_spawn_job job = {
        .program.argv = (const char *const[]){"/bin/true", NULL}, .env = env};
    char *text;

    skip_when_wrapped();
    text = malloc(9000000);
    assert_non_null(text);
    env[0] = text;
    memset(text, 'x', 9000000);
    text[8999999] = '\0';
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), OV_EINVAL);
    text[8388000] = '\0';
    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
    free(text);
    expect_failure(rig, "exec", E2BIG);
}

/* All processes start at once, each with a pipe; nothing is left open. */
static void three_hundred_processes_come_and_go(void **state)
{
    enum { COUNT = 300 };
    struct rig *rig = *state;
    int fds[2];
    unsigned ours;
    unsigned its;
    size_t lines = 0;

    rig_shell(rig, ":"); /* by then the spawner has set itself up */
    rig_capture(rig);
    ours = rig_fd_count(getpid());
    its = rig_fd_count(ep_spawner_pid(rig->sp));
    rig_shell(rig, "echo line; exit $((XYLEM_RANK % 100))");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    rig->procs[0] = (struct rig_proc){0};
    for (uint32_t i = 0; i < COUNT; i++) {
        char rank[32];
        struct ep_spawn_proc proc = {
            .job = 1,
            .proc = i,
            .env = (const char *const[]){rank, NULL},
            .stdio = {-1, fds[1], -1},
        };

        snprintf(rank, sizeof(rank), "XYLEM_RANK=%u", i);
        assert_int_equal(ep_spawner_start(rig->sp, &proc), 0);
    }
    close(fds[1]);
    rig_wait(rig, &rig->exited, COUNT + 1);
    for (const char *at = rig_read_all(fds[0]); *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(WEXITSTATUS(rig->procs[i].status), i % 100);
    assert_int_equal(rig_fd_count(getpid()), ours);
    assert_int_equal(rig_fd_count(ep_spawner_pid(rig->sp)), its);
}

#define RIG_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIG_TEST(exec_failure_is_reported_with_step_and_errno),
        RIG_TEST(directory_failure_is_reported_with_step_and_errno),
        RIG_TEST(impossible_starts_are_reported),
        RIG_TEST(bad_requests_are_refused),
        RIG_TEST(directory_is_entered_and_told_in_pwd),
        RIG_TEST(missing_optional_directory_falls_back_to_our_own),
        RIG_TEST(program_is_searched_in_the_path_of_the_job),
        RIG_TEST(additions_replace_settings_of_the_same_name),
        RIG_TEST(a_process_is_bound_to_processors),
        RIG_TEST(processors_that_are_not_there_are_reported),
        RIG_TEST(exit_status_and_signals_are_reported),
        RIG_TEST(signal_mask_and_ignored_signals_are_reset),
        RIG_TEST(every_other_descriptor_is_closed),
        cmocka_unit_test(descriptors_are_closed_by_listing_too),
        RIG_TEST(descriptor_limit_is_that_of_our_start),
        RIG_TEST(umask_is_inherited),
        RIG_TEST(process_leads_its_group_or_session),
        RIG_TEST(stdio_is_given_or_null),
        RIG_TEST(a_further_descriptor_has_its_number),
        RIG_TEST(signals_reach_the_whole_group),
        RIG_TEST(hanging_exec_delays_nobody_and_keeps_its_signals),
        RIG_TEST(big_environment_arrives_whole),
        RIG_TEST(too_big_a_job_is_refused_or_reported),
        RIG_TEST(three_hundred_processes_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
