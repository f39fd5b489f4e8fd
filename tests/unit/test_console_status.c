/* The console's status line: where it is shown, and what erases it. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN  "\rbusy\033[J\r"
#define ERASED "\r\033[J"

static void open_one(struct console_rig *rig, bool is_prompting)
{
    rig_prepare(rig);
    rig->is_one_file = true;
    rig->cfg.is_prompting = is_prompting;
    rig_open(rig);
}

/* Opens a console whose stdout is a file of its own. */
static void open_two(struct console_rig *rig)
{
    rig_prepare(rig);
    rig_open(rig);
}

static void fault(struct console_rig *rig, uint32_t rank, const char *text)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDERR, text, strlen(text), false);
}

static void show(struct console_rig *rig)
{
    assert_true(ep_console_status(rig->con, "busy"));
    rig_pass(rig, 1);
}

static void check_stderr(struct console_rig *rig, const char *want)
{
    char text[256];
    size_t len = strlen(want);

    assert_int_equal(read(rig->err_fd, text, sizeof(text)), len);
    assert_memory_equal(text, want, len);
}

static void output_erases_it_first(void **state)
{
    for (int is_prompting = 0; is_prompting < 2; is_prompting++) {
        struct console_rig rig;

        (void)state;
        open_one(&rig, is_prompting);
        show(&rig);
        show(&rig);
        rig_say(&rig, 0, "out\n");
        rig_taken(&rig, 1);
        rig_expect(&rig, SHOWN SHOWN ERASED "out\n");
    }
}

/* Two threads write to one terminal: neither may write before the status line
 * is erased. */
static void output_of_both_channels_waits_for_that(void **state)
{
    struct console_rig rig;
    char text[256] = "";
    const char *erased;

    (void)state;
    open_one(&rig, true);
    show(&rig);
    fault(&rig, 1, "err\n");
    rig_say(&rig, 0, "out\n");
    rig_taken(&rig, 2);
    assert_true(read(rig.out_fd, text, sizeof(text) - 1) > 0);
    erased = strstr(text, ERASED);
    assert_non_null(erased);
    assert_true(strstr(text, "err\n") > erased);
    assert_true(strstr(text, "out\n") > erased);
    rig_close(&rig);
}

static void output_for_another_file_leaves_it(void **state)
{
    struct console_rig rig;

    (void)state;
    open_two(&rig);
    show(&rig);
    rig_say(&rig, 0, "out\n");
    rig_taken(&rig, 1);
    check_stderr(&rig, SHOWN);
    assert_true(ep_console_status(rig.con, "busy"));
    rig_expect(&rig, "out\n");
}

/* The end of a channel writes nothing, so the process need not wait. */
static void the_end_of_a_channel_leaves_it(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, true);
    show(&rig);
    rig_eof(&rig, 0, "");
    rig_taken(&rig, 1);
    rig_expect(&rig, SHOWN ERASED);
}

static void it_has_no_place_in_a_line(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, true);
    rig_say(&rig, 0, "name? ");
    rig_taken(&rig, 1);
    for (int i = 0; i < 3; i++) {
        rig_pass(&rig, 1000);
        assert_false(ep_console_status(rig.con, "busy"));
    }
    rig_say(&rig, 0, "\n");
    rig_taken(&rig, 2);
    rig_expect(&rig, "name? \n");
}

static void it_is_not_shown_while_output_comes(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, false);
    for (unsigned i = 1; i <= 3; i++) {
        rig_say(&rig, 0, "out\n");
        rig_taken(&rig, i);
        rig_pass(&rig, 999);
        assert_false(ep_console_status(rig.con, "busy"));
    }
    rig_pass(&rig, 1);
    show(&rig);
    rig_expect(&rig, "out\nout\nout\n" SHOWN ERASED);
}

/* Another program uses the terminal: what it shows is not erased. */
static void it_is_forgotten_without_a_byte(void **state)
{
    struct console_rig rig;

    (void)state;
    open_one(&rig, true);
    show(&rig);
    while (!ep_console_status(rig.con, "busy"))
        rig_pass(&rig, 1);
    rig_pass(&rig, 1);
    do
        rig_pass(&rig, 1), ep_console_forget(rig.con);
    while (!ep_console_status(rig.con, NULL));
    rig_say(&rig, 0, "out\n");
    rig_taken(&rig, 1);
    rig_expect(&rig, SHOWN SHOWN "out\n");
}

/* So messages of the launcher never come after the status line on one line. */
static void a_pause_begins_when_it_is_erased(void **state)
{
    struct console_rig rig;

    (void)state;
    open_two(&rig);
    show(&rig);
    assert_false(ep_console_pause(rig.con));
    rig_run_until(rig.base, &rig.pauses, 1);
    check_stderr(&rig, SHOWN ERASED);
    assert_true(ep_console_pause(rig.con));
    assert_false(ep_console_status(rig.con, "busy"));
    fault(&rig, 0, "err\n");
    ep_console_resume(rig.con);
    rig_taken(&rig, 1);
    check_stderr(&rig, "err\n");
    rig_expect(&rig, "");
}

static void it_is_erased_without_the_loop(void **state)
{
    struct console_rig rig;

    (void)state;
    open_two(&rig);
    assert_true(ep_console_status(rig.con, NULL));
    assert_true(ep_console_status(rig.con, "busy"));
    assert_false(ep_console_status(rig.con, NULL));
    ep_console_settle(rig.con);
    check_stderr(&rig, SHOWN ERASED);
    rig_expect(&rig, "");
}

/* Fills the pipe behind a read end, as a reader that pauses does. */
static void fill(int read_fd)
{
    static const char zeros[4096];
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", read_fd);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    close(fd);
}

/* A terminal that takes nothing holds up neither the loop nor another file. */
static void a_stuck_terminal_is_not_written_again(void **state)
{
    struct console_rig rig;
    char *text;

    (void)state;
    open_two(&rig);
    fill(rig.err_fd);
    rig.is_stuck = true;
    assert_true(ep_console_status(rig.con, "busy"));
    assert_false(ep_console_status(rig.con, "busy"));
    assert_false(ep_console_status(rig.con, NULL));
    rig_say(&rig, 0, "out\n");
    rig_taken(&rig, 1);
    assert_false(ep_console_status(rig.con, NULL));
    rig_finish(&rig);
    text = rig_rest(rig.out_fd, NULL);
    assert_string_equal(text, "out\n");
    free(text);
    rig_close(&rig);
}

/* The status line is not output of the job, so a failure to write it is no
 * error. */
static void a_terminal_that_is_gone_is_no_error(void **state)
{
    struct console_rig rig;

    (void)state;
    open_two(&rig);
    close(rig.err_fd);
    rig.err_fd = -1;
    rig.is_stuck = true;
    assert_true(ep_console_status(rig.con, "busy"));
    while (!ep_console_status(rig.con, NULL))
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    assert_false(ep_console_status(rig.con, "busy"));
    assert_true(ep_console_status(rig.con, NULL));
    assert_int_equal(rig.errors, 0);
    rig_say(&rig, 0, "out\n");
    rig_taken(&rig, 1);
    rig_expect(&rig, "out\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_erases_it_first),
        cmocka_unit_test(output_of_both_channels_waits_for_that),
        cmocka_unit_test(output_for_another_file_leaves_it),
        cmocka_unit_test(the_end_of_a_channel_leaves_it),
        cmocka_unit_test(it_has_no_place_in_a_line),
        cmocka_unit_test(it_is_not_shown_while_output_comes),
        cmocka_unit_test(it_is_forgotten_without_a_byte),
        cmocka_unit_test(a_pause_begins_when_it_is_erased),
        cmocka_unit_test(it_is_erased_without_the_loop),
        cmocka_unit_test(a_stuck_terminal_is_not_written_again),
        cmocka_unit_test(a_terminal_that_is_gone_is_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
