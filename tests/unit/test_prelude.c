/* The time before the event loop: each case is a child process that writes to a
 * pipe what a user would see, and ends as its launcher would. */
#include "endpoints/sys/prelude.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/sys/clock.h"

#define LIMIT_S                                                                \
    0.8 /* Less than the time after which a wait is reported, and              \
         * long after the timer is set. */

static char fifo[64];

struct seen {
    int status;
    char said[512];
};

/* The child ends by itself; `on_word` is called with the first words that it
 * writes. */
static struct seen run_child(void (*fn)(void), void (*on_word)(void))
{
    struct seen seen = {.status = -1};
    size_t len = 0;
    ssize_t got;
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        fn();
        _exit(0);
    }
    close(fds[1]);
    while ((got = read(fds[0], seen.said + len, sizeof(seen.said) - 1 - len)) >
           0) {
        len += (size_t)got;
        if (on_word != NULL)
            on_word();
        on_word = NULL;
    }
    close(fds[0]);
    assert_int_equal(waitpid(pid, &seen.status, 0), pid);
    return seen;
}

static void check(struct seen seen, int code, const char *said)
{
    assert_true(WIFEXITED(seen.status));
    assert_int_equal(WEXITSTATUS(seen.status), code);
    assert_string_equal(seen.said, said);
}

/* Opens the fifo for reading; only some cases have a writer for it. */
static void open_fifo(void)
{
    if (open(fifo, O_RDONLY | O_CLOEXEC) < 0)
        _exit(99);
}

static void wait_with_limit(void)
{
    ep_prelude_open(LIMIT_S, ep_clock_ns());
    ep_prelude_wait("--input: it is late");
    open_fifo();
}

static void block_with_limit(void)
{
    ep_prelude_open(LIMIT_S, ep_clock_ns());
    ep_prelude_wait("--input: it is late");
    ep_prelude_go_on();
    open_fifo();
}

static void time_ends_what_blocks_and_says_at_what(void **state)
{
    (void)state;
    check(run_child(wait_with_limit, NULL), EP_PRELUDE_TIMEOUT,
          "xylem: timed out after 0.8 s (--timeout): --input: it is late\n");
    check(run_child(block_with_limit, NULL), EP_PRELUDE_TIMEOUT,
          "xylem: timed out after 0.8 s (--timeout); the job ends\n");
}

static void wait_and_interrupt(void)
{
    ep_prelude_open(0, ep_clock_ns());
    ep_prelude_wait("it is late");
    raise(SIGINT);
}

static void wait_and_terminate(void)
{
    ep_prelude_open(1000, ep_clock_ns());
    ep_prelude_wait("it is late");
    raise(SIGTERM);
}

static void wait_and_hang_up(void)
{
    ep_prelude_open(0, ep_clock_ns());
    ep_prelude_wait("it is late");
    raise(SIGHUP);
}

static void plan_and_terminate(void)
{
    ep_prelude_open(0, ep_clock_ns());
    raise(SIGTERM);
}

/* While nothing takes long, nothing is reported, as during a launch. */
static void signals_end_it_with_their_code(void **state)
{
    static const char *const words = "xylem: interrupted: it is late\n";

    (void)state;
    check(run_child(wait_and_interrupt, NULL), 128 + SIGINT, words);
    check(run_child(wait_and_terminate, NULL), 128 + SIGTERM, words);
    check(run_child(wait_and_hang_up, NULL), 128 + SIGTERM, words);
    check(run_child(plan_and_terminate, NULL), 128 + SIGTERM, "");
}

static void ignore_and_interrupt(void)
{
    signal(SIGINT, SIG_IGN);
    ep_prelude_open(0, ep_clock_ns());
    raise(SIGINT);
    ep_prelude_close();
    raise(SIGINT);
}

static void ignored_signal_stays_ignored(void **state)
{
    (void)state;
    check(run_child(ignore_and_interrupt, NULL), 0, "");
}

static void wait_for_writer(void)
{
    ep_prelude_open(1000, ep_clock_ns());
    ep_prelude_wait("it is late");
    open_fifo();
    ep_prelude_go_on();
    ep_prelude_close();
}

static void write_to_fifo(void)
{
    int fd = open(fifo, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    close(fd);
}

/* The timer that reports a wait does not interrupt the wait. */
static void long_wait_is_told_and_goes_on(void **state)
{
    (void)state;
    check(run_child(wait_for_writer, write_to_fifo), 0, "xylem: it is late\n");
}

static void terminate_after_close(void)
{
    ep_prelude_open(1000, ep_clock_ns());
    ep_prelude_wait("it is late");
    ep_prelude_close();
    raise(SIGTERM);
}

static void wait_without_prelude(void)
{
    ep_prelude_wait("it is late");
    ep_prelude_go_on();
    ep_prelude_close();
    raise(SIGTERM);
}

static void nothing_of_it_is_left_at_its_end(void **state)
{
    void (*const fns[])(void) = {terminate_after_close, wait_without_prelude};

    (void)state;
    for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
        struct seen seen = run_child(fns[i], NULL);

        assert_true(WIFSIGNALED(seen.status));
        assert_int_equal(WTERMSIG(seen.status), SIGTERM);
        assert_string_equal(seen.said, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_ends_what_blocks_and_says_at_what),
        cmocka_unit_test(signals_end_it_with_their_code),
        cmocka_unit_test(ignored_signal_stays_ignored),
        cmocka_unit_test(long_wait_is_told_and_goes_on),
        cmocka_unit_test(nothing_of_it_is_left_at_its_end),
    };
    char place[] = "/tmp/xylem-prelude-XXXXXX";
    int rc;

    if (mkdtemp(place) == NULL)
        return 99;
    snprintf(fifo, sizeof(fifo), "%s/fifo", place);
    if (mkfifo(fifo, 0600) != 0)
        return 99;
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(fifo);
    rmdir(place);
    return rc;
}
