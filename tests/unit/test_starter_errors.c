/* The starter with daemons that fail: the message for each reason. */
#include "config.h"

#include "endpoints/boot/starter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/starter_rig.h"

/* Returns a remote shell that runs the command line on this machine. */
static const char *local_rsh(void)
{
    return rig_script("rsh", "eval \"$2\"\n");
}

/* Starts one daemon on host `n1` and checks that exactly this is reported, with
 * no end after the error: the next daemon's ready line is reported after its
 * process is gone. */
static void expect_error(const char *xylemd, const char *rsh, const char *words)
{
    rig_start(xylemd, rsh, 0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_string_equal(rig_told, words);
    rig_wait_exits(1);
    assert_string_equal(rig_told, words);
}

static void own_error_is_told_with_its_host(void **state)
{
    (void)state;
    expect_error(rig_script("d", "echo context >&2\n"
                                 "printf '\\nxylemd-error no%%20port%%1B\\n'\n"
                                 "printf '\\nxylemd-error second\\n'\n"
                                 "exit 1\n"),
                 local_rsh(),
                 "stderr 0 n1: context\n"
                 "error 0 n1: no port\\x1b\n");
}

/* The last words on either stream are reported with the status. */
static void early_end_is_told_with_its_last_words(void **state)
{
    char words[1024];
    const char *rsh = rig_script("rsh", "echo Hello\necho one >&2\n"
                                        "printf 'two\\033[2J' >&2\n"
                                        "exit 255\n");

    (void)state;
    snprintf(
        words, sizeof(words),
        "error 0 n1: the remote shell \"%s\" ended before xylemd was ready "
        "(exit status 255); its stderr: one / two\\x1b[2J; its stdout: Hello\n",
        rsh);
    expect_error("xylemd", rsh, words);
}

static void only_the_last_of_many_words_are_quoted(void **state)
{
    const char *error;

    (void)state;
    rig_start("xylemd",
              rig_script("rsh", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); "
                                "echo \"line $i of many\"; done >&2; exit 1\n"),
              0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    error = strstr(rig_told, "error 0");
    assert_non_null(strstr(error, "its stderr: line "));
    assert_non_null(strstr(error, " / line 1000 of many\n"));
    assert_null(strstr(error, "line 900 of many"));
    /* The other lines were reported one by one. */
    assert_true(rig_has("stderr 0 n1: line 1 of many\nstderr 0 n1: line 2 of"));
}

static void death_by_signal_is_named(void **state)
{
    char words[1024];
    const char *daemon = rig_script("d", "kill -9 $$\n");

    (void)state;
    snprintf(words, sizeof(words),
             "error 0 %s ended before it was ready (killed by signal 9, "
             "Killed)\n",
             daemon);
    rig_start(daemon, NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("error");
    assert_string_equal(rig_told, words);
}

static void missing_program_is_told(void **state)
{
    char words[1024];

    (void)state;
    snprintf(words, sizeof(words),
             "error 0 cannot start %s: exec: No such file or directory (is "
             "xylem installed completely? --xylemd names the daemon)\n",
             rig_path("nowhere"));
    rig_start(rig_path("nowhere"), NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("error");
    assert_string_equal(rig_told, words);
}

static void missing_remote_shell_is_told(void **state)
{
    (void)state;
    rig_start("/opt/xylemd", "no-such-rsh -x", 0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_true(rig_has("error 0 n1: cannot start the remote shell "
                        "\"no-such-rsh -x\": exec: No such file or directory "
                        "(--rsh names the remote shell)"));
}

/* A missing remote shell is named also when a shell has to split the command.
 */
static void missing_quoted_remote_shell_is_told(void **state)
{
    (void)state;
    rig_start("/opt/xylemd", "no-such-rsh 'x'", 0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_true(
        rig_has("error 0 n1: the remote shell \"no-such-rsh 'x'\" ended "
                "before xylemd was ready (exit status 127)"));
    assert_true(rig_has("no-such-rsh: not found"));
    assert_true(rig_has("--rsh the remote shell)"));
}

static void missing_xylemd_over_there_is_told(void **state)
{
    (void)state;
    rig_start(rig_path("no xylemd"), local_rsh(), 0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_true(rig_has("(exit status 127); its stderr: "));
    assert_true(rig_has("no xylemd: not found (is xylem installed there as "));
    assert_true(rig_has("--xylemd names the daemon"));
}

static void another_version_is_told_with_both_and_the_path(void **state)
{
    char words[1024];
    const char *daemon =
        rig_script("d", "printf '\\nxylemd-ready 99.5 some other fields\\n'\n"
                        "cat >/dev/null\n");

    (void)state;
    snprintf(words, sizeof(words),
             "error 0 the daemon %s on n1 is of version 99.5, but xylem that "
             "starts it is of version %s: install the same version "
             "everywhere, or name the right daemon with --xylemd\n",
             daemon, ep_boot_version());
    expect_error(daemon, local_rsh(), words);
}

static void endless_rubbish_is_cut_off_and_quoted(void **state)
{
    (void)state;
    rig_start(rig_script("d", "exec yes 'a lot'\n"), local_rsh(), 0, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_true(rig_has(" printed more than 64 KiB before xylemd was ready; "
                        "its stdout: a lot / a lot / a lot"));
    assert_true(rig_has("must print nothing when there is no terminal"));
    assert_int_equal(rig_count(""), 1);
    rig_wait_exits(1);
}

/* A starter that prints a text without newlines is ended, too. */
static void endless_line_of_rubbish_is_cut_off_and_quoted(void **state)
{
    (void)state;
    rig_start(rig_script("d", "tr '\\0' z </dev/zero\n"), NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("error");
    assert_true(rig_has("printed more than 64 KiB"));
    assert_true(rig_has("its stdout: zzzzzzzz"));
    rig_wait_exits(1);
}

static void ill_formed_line_is_quoted(void **state)
{
    (void)state;
    rig_start(rig_script("d", "printf '\\nxylemd-ready %%\\n'\n" UNTIL_EOF),
              NULL, 0, 0);
    rig_add(0, NULL);
    rig_wait("error");
    assert_true(rig_has(
        "error 0 unexpected output instead of xylemd's: \"xylemd-ready"));
    assert_true(rig_has("/d really xylemd?)"));
}

/* Only this test needs a clock: the limit is short, and the daemon never
 * connects. */
static void silent_daemon_is_given_up_and_ended(void **state)
{
    (void)state;
    rig_start(rig_script("d", "printf 'Password: '\necho hm >&2\nsleep 1000\n"),
              local_rsh(), 4000, 0);
    rig_add(0, "n1");
    rig_wait("error");
    assert_string_equal(
        rig_told,
        "error 0 n1: timed out: xylemd was not ready after 4 s; its stderr: "
        "hm; its stdout: Password:  (--launch-timeout gives it more time)\n");
    rig_wait_exits(1);
    assert_int_equal(rig_count(""), 1);
}

/* The limit counts from the start of each daemon, not from ep_starter_add(). */
static void waiting_in_the_queue_is_not_late(void **state)
{
    char body[512];

    (void)state;
    /* The first daemon never gets ready and occupies the only place until the
     * limit. */
    snprintf(body, sizeof(body),
             "if mkdir %s 2>/dev/null; then sleep 1000; fi\n" UNTIL_GO
             "@READY\n" UNTIL_EOF,
             rig_path("first"));
    rig_start(rig_script("d", body), NULL, 5000, 1);
    rig_add(0, NULL);
    rig_add(1, NULL);
    rig_wait("ready 1");
    assert_int_equal(rig_count("error 0 timed out: xylemd was not ready"), 1);
    assert_int_equal(rig_count("error 1"), 0);
}

/* A daemon that fails makes room for the next; each is reported once. */
static void failures_make_room_for_those_that_wait(void **state)
{
    (void)state;
    rig_start("/bin/false", NULL, 0, 2);
    for (uint32_t i = 0; i < 20; i++)
        rig_add(i, NULL);
    rig_wait_count("error", 20);
    for (uint32_t i = 0; i < 20; i++) {
        char begin[32];

        snprintf(begin, sizeof(begin), "error %u /bin/false ended", i);
        assert_int_equal(rig_count(begin), 1);
    }
}

static void bad_arguments_are_refused(void **state)
{
    static const struct ep_starter_events none;
    struct ep_starter_cfg cfg = {.events = &none, .launch_timeout_ms = 1};
    struct ep_starter *st;
    struct text_buf text = {0};

    (void)state;
    assert_int_equal(ep_starter_open(&cfg, &st), OV_EINVAL);
    cfg.xylemd = " ";
    assert_int_equal(ep_starter_open(&cfg, &st), OV_EINVAL);
    cfg.xylemd = "x";
    cfg.rsh = " \t";
    assert_int_equal(ep_starter_open(&cfg, &st), OV_EINVAL);
    cfg.rsh = NULL;
    cfg.launch_timeout_ms = 0;
    assert_int_equal(ep_starter_open(&cfg, &st), OV_EINVAL);
    assert_null(st);

    rig_start("/bin/false", "false", 0, 0);
    assert_int_equal(
        ep_starter_add(rig_st, EP_STARTER_MAX, EP_LAUNCHER_LOCAL, NULL, &text),
        OV_EINVAL);
    assert_int_equal(ep_starter_add(rig_st, 0, EP_LAUNCHER_SSH, NULL, &text),
                     OV_EINVAL);
    assert_int_equal(
        ep_starter_add(rig_st, 0, EP_LAUNCHER_SSH, "-oProxyCommand=x", &text),
        OV_EINVAL);
    assert_int_equal(ep_starter_add(rig_st, 0, EP_LAUNCHER_SSH, "a b", &text),
                     OV_EINVAL);
    rig_add(0, NULL);
    assert_int_equal(ep_starter_add(rig_st, 0, EP_LAUNCHER_LOCAL, NULL, &text),
                     OV_EINVAL);
    assert_false(ep_starter_exited(rig_st, 1, 0));
    assert_false(ep_starter_failed(rig_st, UINT32_MAX, "exec", 1));
    ep_starter_leave(rig_st);
    assert_int_equal(ep_starter_add(rig_st, 1, EP_LAUNCHER_LOCAL, NULL, &text),
                     OV_ECLOSED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, rig_enter, rig_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(own_error_is_told_with_its_host),
        T(early_end_is_told_with_its_last_words),
        T(only_the_last_of_many_words_are_quoted),
        T(death_by_signal_is_named),
        T(missing_program_is_told),
        T(missing_remote_shell_is_told),
        T(missing_quoted_remote_shell_is_told),
        T(missing_xylemd_over_there_is_told),
        T(another_version_is_told_with_both_and_the_path),
        T(endless_rubbish_is_cut_off_and_quoted),
        T(endless_line_of_rubbish_is_cut_off_and_quoted),
        T(ill_formed_line_is_quoted),
        T(silent_daemon_is_given_up_and_ended),
        T(waiting_in_the_queue_is_not_late),
        T(failures_make_room_for_those_that_wait),
        T(bad_arguments_are_refused),
    };
    int failed;

    if (rig_open() != 0)
        return 1;
    failed = cmocka_run_group_tests_name("starter_errors", tests, NULL, NULL);
    rig_close();
    return failed;
}
