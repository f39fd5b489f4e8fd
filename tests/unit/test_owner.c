/* The identity of processes: this one, children that live or have died, and
 * identities from another host, made by changing one part. */
#include "endpoints/sys/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* Starts a child that ends when the other end of the pipe is closed. */
static pid_t start_child(int *fd)
{
    int pipe_fds[2];
    pid_t child;
    char byte;

    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipe_fds[1]);
        _exit(read(pipe_fds[0], &byte, 1) != 0);
    }
    close(pipe_fds[0]);
    *fd = pipe_fds[1];
    return child;
}

static struct ep_owner own(void)
{
    struct ep_owner me;

    assert_int_equal(ep_owner_self(&me), 0);
    return me;
}

static void own_identity_lives_and_is_always_the_same(void **state)
{
    struct ep_owner me = own(), again = own();
    uint64_t start;

    (void)state;
    assert_int_equal(me.pid, getpid());
    assert_int_equal(ep_owner_start(me.pid, &start), 0);
    assert_true(start == me.start && start > 0);
    assert_true(again.start == start && again.host == me.host);
    assert_true(again.boot == me.boot && again.space == me.space);
    assert_false(ep_owner_is_gone(&me, &me));
}

/* A dead child counts as gone before its parent has waited for it, and
 * after. */
static void process_is_gone_from_its_death_on(void **state)
{
    struct ep_owner me = own(), it = me;
    siginfo_t info;
    int fd;

    (void)state;
    it.pid = (uint32_t)start_child(&fd);
    assert_int_equal(ep_owner_start(it.pid, &it.start), 0);
    assert_true(it.start >= me.start);
    assert_false(ep_owner_is_gone(&it, &me));
    close(fd);
    assert_int_equal(waitid(P_PID, it.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(ep_owner_start(it.pid, &it.start), OV_ENOENT);
    assert_true(ep_owner_is_gone(&it, &me));
    assert_int_equal(waitpid((pid_t)it.pid, NULL, 0), (int)it.pid);
    assert_true(ep_owner_is_gone(&it, &me));
}

/* The number is in use again, by a process that began at another time. */
static void number_that_is_used_again_is_another_process(void **state)
{
    struct ep_owner me = own(), before = me;

    (void)state;
    before.start--;
    assert_true(ep_owner_is_gone(&before, &me));
}

/* A process of another host or container is never called dead, even when no
 * process here has its number. */
static void others_are_never_gone(void **state)
{
    struct ep_owner me = own(), it = me;

    (void)state;
    it.start--;
    it.host++;
    assert_false(ep_owner_is_gone(&it, &me));
    it.boot++;
    assert_false(ep_owner_is_gone(&it, &me));
    it = me;
    it.start--;
    it.space++;
    assert_false(ep_owner_is_gone(&it, &me));
    it.boot++;
    assert_false(ep_owner_is_gone(&it, &me));
}

/* The process is gone, whatever has its number now. */
static void another_boot_of_this_host_is_over(void **state)
{
    struct ep_owner me = own(), it = me;

    (void)state;
    it.boot++;
    me.is_first = me.is_sure = true;
    assert_true(ep_owner_is_gone(&it, &me));
    me.is_first = false;
    assert_false(ep_owner_is_gone(&it, &me));
    me.is_first = true;
    me.is_sure = false;
    assert_false(ep_owner_is_gone(&it, &me));
}

static void all_of_it_is_in_its_text(void **state)
{
    struct ep_owner me = own(), read;
    struct ep_owner most = {.host = 0xffffffffffff,
                            .boot = 0xffffffffffff,
                            .space = 0xffffffffffff,
                            .start = UINT64_MAX,
                            .pid = INT32_MAX};
    char text[EP_OWNER_BYTES], longer[EP_OWNER_BYTES + 8];

    (void)state;
    ep_owner_print(&me, text);
    assert_string_equal(ep_owner_read(text, &read), "");
    assert_true(read.host == me.host && read.boot == me.boot);
    assert_true(read.space == me.space && read.start == me.start);
    assert_int_equal(read.pid, me.pid);
    ep_owner_print(&most, text);
    snprintf(longer, sizeof(longer), "%s-rest", text);
    assert_string_equal(ep_owner_read(longer, &read), "rest");
    assert_true(read.start == UINT64_MAX && read.pid == INT32_MAX);
}

static void what_is_no_identity_is_not_read(void **state)
{
    static const char *const texts[] = {
        "",
        "-",
        "0123456789abcdef", /* a random number */
        "1-2-3-4",
        "1-2-3-4-",
        "1-2-3-4-g",
        "1-2-3-4-5x",
        "1-2-3-0-5",
        "1-2-3--4-5",
        "1-2-3-2147483648-5",
        "1-2-3-4-0123456789abcdef0",
        "1000000000000-2-3-4-5",
        " 1-2-3-4-5",
        "+1-2-3-4-5",
        "1-2-3-a-5",
    };
    struct ep_owner read;

    (void)state;
    assert_non_null(ep_owner_read("1-2-3-4-5", &read));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_null(ep_owner_read(texts[i], &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_identity_lives_and_is_always_the_same),
        cmocka_unit_test(process_is_gone_from_its_death_on),
        cmocka_unit_test(number_that_is_used_again_is_another_process),
        cmocka_unit_test(others_are_never_gone),
        cmocka_unit_test(another_boot_of_this_host_is_over),
        cmocka_unit_test(all_of_it_is_in_its_text),
        cmocka_unit_test(what_is_no_identity_is_not_read),
    };

    prctl(PR_SET_NAME, "a) Z (b) 1 2"); /* a name that is as hard to parse as
                                         * possible */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
