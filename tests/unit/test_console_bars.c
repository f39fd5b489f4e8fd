/* Progress bars in rows beneath the console's output. */
#include "config.h"

#include "endpoints/console/console.h"

#include "endpoints/console/bar_set.h"
#include "tests/unit/console_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERASED "\r\033[J"
#define DRAWN  "\033[J\r"
#define NEXT   "\033[K\r\n"
#define UP(n)  "\033[" #n "A"

enum { EVERY_MS = 100, TEXT_MAX = 1 << 17 };

static void open_bars(struct console_rig *rig, enum text_label_mode label)
{
    rig_prepare(rig);
    rig->is_one_file = true;
    rig->cfg.is_prompting = true;
    rig->cfg.style.label = label;
    rig->cfg.bar_channels =
        1u << TEXT_CHANNEL_STDOUT | 1u << TEXT_CHANNEL_STDERR;
    rig_open(rig);
}

static void say(struct console_rig *rig, uint32_t rank, const char *text)
{
    rig_say(rig, rank, text);
    rig_taken(rig, rig->sent);
}

/* What was written since the last call. */
static void expect(struct console_rig *rig, const char *want)
{
    static char text[TEXT_MAX];
    ssize_t got;

    rig_pass(rig, 0);
    fcntl(rig->out_fd, F_SETFL, O_NONBLOCK);
    got = read(rig->out_fd, text, sizeof(text) - 1);
    text[got > 0 ? got : 0] = '\0';
    assert_string_equal(text, want);
}

/* The end, before which only this is written. */
static void expect_end(struct console_rig *rig, const char *want)
{
    fcntl(rig->out_fd, F_SETFL, 0);
    rig_expect(rig, want);
}

static void each_bar_has_a_row_in_the_order_of_ranks(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 7, "\r10%");
    expect(&rig, "\r7: 10%" DRAWN);
    say(&rig, 3, "20%\r30%\r");
    expect(&rig, "");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "\r3: 30%" NEXT "7: 10%" DRAWN UP(1));
    say(&rig, 7, "\r11%");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "\r3: 30%" NEXT "7: 11%" DRAWN UP(1));
    rig_eof(&rig, 7, "");
    expect_end(&rig, ERASED "7: 11%\n3: 30%\n");
}

static void it_is_redrawn_ten_times_a_second_at_most(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    for (int i = 0; i < 10; i++) {
        say(&rig, 0, "\r0%");
        say(&rig, 0, "\r1%");
        rig_pass(&rig, EVERY_MS / 10);
    }
    expect(&rig, "\r0%" DRAWN "\r1%" DRAWN);
    /* what looks the same is not drawn again */
    say(&rig, 0, "\r1%");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "");
    expect_end(&rig, ERASED "1%\n");
}

static void lines_of_others_are_above_it(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "\r10%");
    expect(&rig, "\r0: 10%" DRAWN);
    rig_pass(&rig, EVERY_MS);
    say(&rig, 1, "one\n");
    expect(&rig, ERASED "1: one\n\r0: 10%" DRAWN);
    /* a row that has just been drawn stays for a moment */
    rig_say(&rig, 1, "two\n");
    rig_pass(&rig, EVERY_MS / 2);
    expect(&rig, "");
    rig_pass(&rig, EVERY_MS / 2);
    rig_taken(&rig, rig.sent);
    expect(&rig, ERASED "1: two\n\r0: 10%" DRAWN);
    expect_end(&rig, ERASED "0: 10%\n");
}

/* Output in bulk does not wait for rows. */
static void much_output_erases_it_at_once(void **state)
{
    static char line[20000], text[sizeof(line)];
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    memset(line, 'x', sizeof(line) - 2);
    line[sizeof(line) - 2] = '\n';
    say(&rig, 0, "\r10%");
    rig_pass(&rig, 1);
    for (int i = 0; i < 3; i++)
        rig_say(&rig, 1, line);
    rig_pass(&rig, 1);
    assert_int_equal(rig.taken, 1);
    rig_say(&rig, 1, line);
    fcntl(rig.out_fd, F_SETFL, O_NONBLOCK);
    while (rig.taken < rig.sent) {
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
        while (read(rig.out_fd, text, sizeof(text)) > 0)
            ;
    }
    rig_eof(&rig, 0, "");
    rig_taken(&rig, rig.sent);
    rig_finish(&rig);
    rig_close(&rig);
}

static void a_newline_makes_a_line_of_it(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "\r10%");
    say(&rig, 1, "\r20%");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "\r0: 10%" DRAWN "\r0: 10%" NEXT "1: 20%" DRAWN UP(1));
    rig_pass(&rig, EVERY_MS);
    say(&rig, 0, "\r99%\r100%\r\nnext\n\r5%");
    expect(&rig, ERASED "0: 100%\n0: next\n\r0: 5%" NEXT "1: 20%" DRAWN UP(1));
    rig_eof(&rig, 1, "");
    expect_end(&rig, ERASED "1: 20%\n0: 5%\n");
}

static void the_end_of_a_channel_does_so_too(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    say(&rig, 0, "\r10%");
    rig_eof(&rig, 0, "\r20");
    expect(&rig, "\r10%" DRAWN ERASED "20\n");
    rig_pass(&rig, EVERY_MS);
    say(&rig, 1, "\r30%");
    expect(&rig, "\r30%" DRAWN);
    say(&rig, 2, "\r40%");
    rig_eof(&rig, 1, "");
    rig_pass(&rig, EVERY_MS);
    rig_taken(&rig, rig.sent);
    expect(&rig, ERASED "30%\n\r40%" DRAWN);
    expect_end(&rig, ERASED "40%\n");
}

static void a_state_in_pieces_is_one(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    say(&rig, 0, "\r1");
    say(&rig, 0, "0");
    say(&rig, 0, "%\r");
    say(&rig, 0, "\r");
    say(&rig, 0, "");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "\r1" DRAWN "\r10%" DRAWN);
    say(&rig, 0, "2");
    say(&rig, 0, "0%\n");
    expect_end(&rig, ERASED "20%\n");
}

static void colours_and_erasures_stay_in_the_row(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "\r\033[2K\033[32m10%\033[K");
    expect(&rig, "\r0: \033[32m10%\033[0m" DRAWN);
    say(&rig, 0, "\r\033[2K\033[32m20%\033[K\n");
    expect_end(&rig, ERASED "0: \033[32m20%\033[0m\n");
}

static void a_row_is_as_wide_as_the_terminal_at_most(void **state)
{
    struct console_rig rig;
    char text[120] = "\r";

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    memset(text + 1, '#', 100);
    say(&rig, 0, text);
    text[1 + 76] = '\0';
    {
        char want[128];

        snprintf(want, sizeof(want), "\r0: %s" DRAWN, text + 1);
        expect(&rig, want);
    }
    say(&rig, 0, "\r1%\n");
    expect_end(&rig, ERASED "0: 1%\n");
}

/* A terminal of 24 lines: 17 bars and the sum. */
static void those_without_room_are_counted(void **state)
{
    struct console_rig rig;
    char want[1024] = "\r";

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 99, "\r0%");
    expect(&rig, "\r99: 0%" DRAWN);
    for (uint32_t rank = 0; rank < 99; rank++)
        rig_say(&rig, rank, "\r0%");
    rig_taken(&rig, rig.sent);
    rig_pass(&rig, EVERY_MS);
    for (int rank = 0; rank < 17; rank++)
        snprintf(want + strlen(want), sizeof(want) - strlen(want),
                 "%d: 0%%" NEXT, rank);
    strcat(want, "... and 83 more" DRAWN UP(17));
    expect(&rig, want);
    rig_pass(&rig, EVERY_MS);
    /* nor are they drawn again for one that is not seen */
    say(&rig, 50, "\r1%");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "");
    ep_console_give_up(rig.con);
    rig_finish(&rig);
    rig_close(&rig);
}

static void a_prompt_is_shown_as_it_was(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "\r10%");
    rig_pass(&rig, EVERY_MS);
    say(&rig, 1, "name? ");
    rig_say(&rig, 0, "\r20%");
    rig_pass(&rig, 500);
    expect(&rig, "\r0: 10%" DRAWN ERASED "1: name? ");
    /* it has held the others up for a second */
    rig_pass(&rig, 800);
    rig_taken(&rig, rig.sent);
    expect(&rig, "\n\r0: 20%" DRAWN);
    rig_pass(&rig, EVERY_MS);
    say(&rig, 1, "bob\n");
    expect(&rig, ERASED "1: bob\n\r0: 20%" DRAWN);
    expect_end(&rig, ERASED "0: 20%\n");
}

/* It was shown as a prompt, and would stay above its own bar for ever. */
static void a_prompt_that_becomes_a_bar_is_erased(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "10%");
    say(&rig, 0, "\r20%");
    expect(&rig, "0: 10%\r\033[K\r0: 20%" DRAWN);
    expect_end(&rig, ERASED "0: 20%\n");
}

static void a_state_that_is_too_long_is_a_line_as_ever(void **state)
{
    struct console_rig rig;
    char text[EP_BAR_BYTES + 8] = "\r", want[2 * EP_BAR_BYTES];

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    memset(text + 1, 'x', EP_BAR_BYTES);
    say(&rig, 0, text);
    say(&rig, 0, "y");
    say(&rig, 0, "z\n");
    rig_pass(&rig, EVERY_MS);
    snprintf(want, sizeof(want), "\r%.79s" DRAWN ERASED "%syz\n", text + 1,
             text + 1);
    expect_end(&rig, want);
}

static void the_line_of_status_is_the_last_row(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    say(&rig, 0, "\r10%");
    expect(&rig, "\r10%" DRAWN);
    assert_true(ep_console_status(rig.con, "busy"));
    expect(&rig, "\r10%" NEXT "busy" DRAWN UP(1));
    rig_pass(&rig, EVERY_MS);
    say(&rig, 1, "one\n");
    expect(&rig, ERASED "one\n\r10%" NEXT "busy" DRAWN UP(1));
    rig_pass(&rig, EVERY_MS);
    say(&rig, 0, "\n");
    rig_pass(&rig, 500);
    expect(&rig, ERASED "10%\n");
    assert_false(ep_console_status(rig.con, "busy"));
    expect_end(&rig, "");
}

static void it_is_gone_in_a_pause_and_while_held(void **state)
{
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    say(&rig, 0, "\r10%");
    expect(&rig, "\r10%" DRAWN);
    assert_false(ep_console_pause(rig.con));
    rig_run_until(rig.base, &rig.pauses, 1);
    say(&rig, 0, "\r20%");
    rig_pass(&rig, 500);
    expect(&rig, ERASED);
    ep_console_resume(rig.con);
    expect(&rig, "\r20%" DRAWN);
    assert_false(ep_console_hold(rig.con, true));
    rig_pass(&rig, 500);
    assert_true(ep_console_hold(rig.con, true));
    say(&rig, 0, "\r30%");
    say(&rig, 1, "one\n");
    rig_pass(&rig, 500);
    expect(&rig, ERASED "one\n");
    assert_true(ep_console_hold(rig.con, false));
    expect(&rig, "\r30%" DRAWN);
    expect_end(&rig, ERASED "30%\n");
}

/* Nothing is taken for a bar where there are no rows. */
static void formats_are_as_they_are(void **state)
{
    static const struct text_style json = {.nspace = "job",
                                           .format = TEXT_FORMAT_JSON};
    struct console_rig rig;

    (void)state;
    open_bars(&rig, TEXT_LABEL_NONE);
    rig.style = &json;
    say(&rig, 0, "\r1%\r2%");
    rig.style = NULL;
    say(&rig, 0, "\n");
    rig_finish(&rig);
    fcntl(rig.out_fd, F_SETFL, 0);
    {
        char *text = rig_rest(rig.out_fd, NULL);

        assert_non_null(strstr(text, "\\r1%\\r2%"));
        free(text);
    }
    rig_close(&rig);
}

/* While a line is held, what goes on is in the spool; bars come out of it. */
static void bars_go_through_the_spool(void **state)
{
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.is_one_file = true;
    rig.cfg.is_prompting = true;
    rig.cfg.style.label = TEXT_LABEL_RANK;
    rig.cfg.bar_channels = 1u << TEXT_CHANNEL_STDOUT;
    rig.cfg.park_limit_records = 2;
    rig_open(&rig);
    say(&rig, 0, "name? ");
    for (uint32_t rank = 1; rank < 6; rank++) {
        rig_say(&rig, rank, "\r10%");
        rig_say(&rig, rank, "\r20%");
        rig_say(&rig, rank, "\r30%\nline\n\r40%");
    }
    rig_taken(&rig, rig.sent); /* all but the prompt are in the spool */
    expect(&rig, "0: name? ");
    say(&rig, 0, "bob\n");
    rig_pass(&rig, EVERY_MS);
    expect(&rig, "bob\n1: 30%\n1: line\n2: 30%\n2: line\n3: 30%\n3: line\n"
                 "4: 30%\n4: line\n5: 30%\n5: line\n"
                 "\r1: 40%" NEXT "2: 40%" NEXT "3: 40%" NEXT "4: 40%" NEXT
                 "5: 40%" DRAWN UP(4));
    ep_console_give_up(rig.con);
    rig_finish(&rig);
    rig_close(&rig);
}

/* The bytes that come are those that count, whatever is seen of them, and
 * nothing waits for a terminal that takes nothing (console_rig.c). */
static void a_stuck_terminal_does_not_hold_bars_up(void **state)
{
    static const char zeros[4096];
    struct console_rig rig;
    char path[64];
    int fd;

    (void)state;
    open_bars(&rig, TEXT_LABEL_RANK);
    say(&rig, 0, "\r10%");
    rig_pass(&rig, EVERY_MS);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", rig.out_fd);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    close(fd);
    rig.is_stuck = true;
    for (int i = 0; i < 1000; i++) {
        rig_say(&rig, 0, "\r20%");
        rig_say(&rig, 1, "\r30%");
        rig_pass(&rig, 10);
    }
    rig_taken(&rig, rig.sent);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bar_has_a_row_in_the_order_of_ranks),
        cmocka_unit_test(it_is_redrawn_ten_times_a_second_at_most),
        cmocka_unit_test(lines_of_others_are_above_it),
        cmocka_unit_test(much_output_erases_it_at_once),
        cmocka_unit_test(a_newline_makes_a_line_of_it),
        cmocka_unit_test(the_end_of_a_channel_does_so_too),
        cmocka_unit_test(a_state_in_pieces_is_one),
        cmocka_unit_test(colours_and_erasures_stay_in_the_row),
        cmocka_unit_test(a_row_is_as_wide_as_the_terminal_at_most),
        cmocka_unit_test(those_without_room_are_counted),
        cmocka_unit_test(a_prompt_is_shown_as_it_was),
        cmocka_unit_test(a_prompt_that_becomes_a_bar_is_erased),
        cmocka_unit_test(a_state_that_is_too_long_is_a_line_as_ever),
        cmocka_unit_test(the_line_of_status_is_the_last_row),
        cmocka_unit_test(it_is_gone_in_a_pause_and_while_held),
        cmocka_unit_test(formats_are_as_they_are),
        cmocka_unit_test(bars_go_through_the_spool),
        cmocka_unit_test(a_stuck_terminal_does_not_hold_bars_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
