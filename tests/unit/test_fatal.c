/* What a process writes when it dies: in each test a process dies. */
#include "config.h"

#include "endpoints/sys/fatal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT "erased"

/* Runs die(arg) in a process that has TEXT to write; returns the exit status,
 * and what the process wrote before it died. */
static int status_of(void (*die)(int arg), int arg, char *wrote, size_t size)
{
    int fds[2], status;
    ssize_t len;
    pid_t child;

    assert_int_equal(pipe(fds), 0);
    child = fork();
    if (child == 0) {
        ep_fatal_open();
        ep_fatal_set(fds[1], TEXT);
        die(arg);
        _exit(0);
    }
    close(fds[1]);
    len = read(fds[0], wrote, size - 1);
    assert_true(len >= 0);
    wrote[len] = '\0';
    assert_int_equal(read(fds[0], wrote + len, 1), 0);
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void die_of(int signo)
{
    raise(signo);
}

static void die_without_handlers(int signo)
{
    ep_fatal_close();
    raise(signo);
}

static void die_ignoring(int signo)
{
    ep_fatal_close();
    signal(signo, SIG_IGN);
    ep_fatal_open();
    raise(signo);
}

static void write_twice(int arg)
{
    (void)arg;
    ep_fatal_write();
    ep_fatal_write();
}

static void forget(int arg)
{
    ep_fatal_set(-1, NULL);
    write_twice(arg);
}

static void a_signal_writes_it_and_kills_all_the_same(void **state)
{
    static const int signos[] = {SIGALRM, SIGXCPU, SIGVTALRM};
    char wrote[64];

    (void)state;
    for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++) {
        const int status = status_of(die_of, signos[i], wrote, sizeof(wrote));

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signos[i]);
        assert_string_equal(wrote, TEXT);
    }
}

static void signals_are_left_as_they_were(void **state)
{
    char wrote[64];
    int status;

    (void)state;
    status = status_of(die_without_handlers, SIGALRM, wrote, sizeof(wrote));
    assert_true(WIFSIGNALED(status));
    assert_string_equal(wrote, "");
    status = status_of(die_ignoring, SIGALRM, wrote, sizeof(wrote));
    assert_true(WIFEXITED(status));
    assert_string_equal(wrote, "");
}

static void it_is_written_once(void **state)
{
    char wrote[64];

    (void)state;
    assert_int_equal(status_of(write_twice, 0, wrote, sizeof(wrote)), 0);
    assert_string_equal(wrote, TEXT);
    assert_int_equal(status_of(forget, 0, wrote, sizeof(wrote)), 0);
    assert_string_equal(wrote, "");
}

static void what_takes_nothing_is_not_waited_for(void **state)
{
    static const char zeros[4096];
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    while (write(fds[1], zeros, sizeof(zeros)) > 0)
        ;
    assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0);
    ep_fatal_set(fds[1], TEXT);
    ep_fatal_write();
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_writes_it_and_kills_all_the_same),
        cmocka_unit_test(signals_are_left_as_they_were),
        cmocka_unit_test(it_is_written_once),
        cmocka_unit_test(what_takes_nothing_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
