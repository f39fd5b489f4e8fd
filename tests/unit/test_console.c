/* How the console writes records: lines, labels, turns, and errors. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_rig.h"

#include <errno.h>

#include "overlay/base/err.h"

static void open_with(struct console_rig *rig, enum text_label_mode label)
{
    rig_prepare(rig);
    rig->cfg.style.label = label;
    rig_open(rig);
}

/* The console adds nothing, not even a newline at an end without one. */
static void one_process_alone_is_byte_exact(void **state)
{
    static const char text[] = "one\n\ntwo\0\0nul\n last";
    struct console_rig rig;
    size_t len;
    char *got;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_send(&rig, 0, TEXT_CHANNEL_STDOUT, text, 6, false);
    rig_send(&rig, 0, TEXT_CHANNEL_STDOUT, text + 6, 3, false);
    rig_send(&rig, 0, TEXT_CHANNEL_STDOUT, text + 9, sizeof(text) - 10, true);
    rig_finish(&rig);
    got = rig_rest(rig.out_fd, &len);
    assert_int_equal(len, sizeof(text) - 1);
    assert_memory_equal(got, text, len);
    free(got);
    rig_close(&rig);
}

static void every_line_is_labelled_with_its_rank(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 3, "one\ntwo\n");
    rig_say(&rig, 12, "\n\n");
    rig_eof(&rig, 3, "last");
    rig_eof(&rig, 12, "");
    rig_expect(&rig, "3: one\n3: two\n12: \n12: \n3: last\n");
}

static void every_line_is_labelled_with_its_host(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_HOST);
    rig_say(&rig, 3, "one\n");
    rig_say(&rig, 2, "two\n");
    rig_expect(&rig, "odd: one\neven: two\n");
}

/* The channel is in the label, also when both channels go to one descriptor. */
static void full_labels_tell_job_rank_and_channel(void **state)
{
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.cfg.style.label = TEXT_LABEL_FULL;
    rig.cfg.merge_stderr = true;
    rig_open(&rig);
    rig_say(&rig, 3, "one\n");
    rig_send(&rig, 3, TEXT_CHANNEL_STDERR, "two\n", 4, false);
    rig_say(&rig, 4, "three\n");
    rig_expect(&rig, "[job,3]<stdout>: one\n"
                     "[job,3]<stderr>: two\n"
                     "[job,4]<stdout>: three\n");
}

/* Diagnostics go where stderr goes, also when stderr goes to stdout. */
static void diagnostics_are_lines_on_stderr(void **state)
{
    for (int merged = 0; merged < 2; merged++) {
        struct console_rig rig;

        (void)state;
        rig_prepare(&rig);
        rig.cfg.style.label = TEXT_LABEL_FULL;
        rig.cfg.merge_stderr = merged;
        rig_open(&rig);
        rig_say(&rig, 3, "out\n");
        rig_send(&rig, 3, TEXT_CHANNEL_STDDIAG, "di", 2, false);
        rig_send(&rig, 3, TEXT_CHANNEL_STDERR, "err\n", 4, false);
        rig_send(&rig, 3, TEXT_CHANNEL_STDDIAG, "ag\n", 3, true);
        rig_expect_both(&rig,
                        merged ? "[job,3]<stdout>: out\n[job,3]<stderr>: err\n"
                               : "[job,3]<stdout>: out\n",
                        merged ? "[job,3]<stddiag>: diag\n"
                               : "[job,3]<stddiag>: diag\n"
                                 "[job,3]<stderr>: err\n");
    }
}

/* The other processes wait, in order, and the held line stays whole. */
static void an_open_line_keeps_the_console(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "whole\nop");
    rig_say(&rig, 1, "first\n");
    rig_say(&rig, 2, "second\nsec");
    rig_say(&rig, 1, "third\n");
    rig_say(&rig, 0, "e");
    rig_say(&rig, 2, "ond\n");
    rig_say(&rig, 0, "n\nmore\n");
    rig_expect(&rig, "whole\nopen\nmore\nfirst\nsecond\nsecond\nthird\n");
}

static void a_continued_line_has_one_label(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "other\n");
    rig_say(&rig, 0, "en\nnext\n");
    rig_expect(&rig, "0: open\n0: next\n1: other\n");
}

static void a_pause_below_a_second_tears_nothing(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "other\n");
    rig_pass(&rig, 990);
    rig_say(&rig, 0, "en");
    rig_taken(&rig, 3); /* the parked record is safe, after 100 ms */
    rig_pass(&rig, 990);
    rig_say(&rig, 0, "ed\n");
    rig_expect(&rig, "0: opened\n1: other\n");
}

/* The interrupted line gets a newline, and a label when it goes on. */
static void a_pause_of_a_second_lets_others_through(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "other\n");
    rig_pass(&rig, 1010);
    rig_taken(&rig, 2);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: op\n1: other\n0: en\n");
}

static void without_labels_a_pause_adds_a_newline_only(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "other\n");
    rig_pass(&rig, 1010);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "op\nother\nen\n");
}

/* More than a second has passed already when the first other process writes. */
static void a_prompt_that_stood_long_blocks_nobody(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "name? ");
    rig_taken(&rig, 1);
    rig_pass(&rig, 5000);
    rig_say(&rig, 1, "other\n");
    rig_taken(&rig, 2);
    rig_expect(&rig, "name? \nother\n");
}

/* No other output waits, so the line is never interrupted. */
static void a_line_that_holds_up_nobody_is_never_torn(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_pass(&rig, 5000);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: open\n");
}

/* When the clock jumps while others wait, the loop has stood still. */
static void a_late_loop_starts_the_second_anew(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "other\n");
    rig_pass(&rig, 400);
    rig.now_ns += 60000 * RIG_MS;
    ep_console_tick(rig.con);
    rig_pass(&rig, 800);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "open\nother\n");
}

static void the_end_of_a_channel_ends_its_line(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "open");
    rig_say(&rig, 1, "other\n");
    rig_eof(&rig, 0, "");
    rig_eof(&rig, 2, "last");
    rig_expect(&rig, "open\nother\nlast");
}

static void with_labels_the_last_line_is_ended(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "open");
    rig_say(&rig, 1, "other");
    rig_eof(&rig, 0, "");
    rig_expect(&rig, "0: open\n1: other\n"); /* rank 1 has not ended */
}

/* The newline is added at once, not only when more output follows. */
static void with_labels_the_end_of_a_channel_ends_its_line(void **state)
{
    static const char want[] = "0: last\n";
    struct console_rig rig;
    char got[sizeof(want)] = "";

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_eof(&rig, 0, "last");
    rig_taken(&rig, 1);
    assert_int_equal(read(rig.out_fd, got, sizeof(got)), strlen(want));
    assert_string_equal(got, want);
    rig_expect(&rig, "");
}

/* A rank that was started again does not continue its earlier line. */
static void a_channel_that_begins_anew_begins_a_line(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_eof(&rig, 0, "last");
    rig_say(&rig, 0, "first\n");
    rig_expect(&rig, "last\nfirst\n");
}

/* Records without bytes are answered and change nothing. */
static void empty_records_are_taken(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "");
    rig_eof(&rig, 1, "");
    rig_say(&rig, 0, "op");
    rig_say(&rig, 0, "");
    rig_say(&rig, 2, "other\n");
    rig_say(&rig, 0, "");
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "0: open\n2: other\n");
}

static void raw_bytes_go_out_as_they_come(void **state)
{
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.cfg.is_raw = true;
    rig_open(&rig);
    rig_say(&rig, 0, "a");
    rig_say(&rig, 1, "b");
    rig_eof(&rig, 0, "c");
    rig_say(&rig, 1, "d\n");
    rig_expect(&rig, "abcd\n");
}

/* Each descriptor has an unfinished line of its own. */
static void stdout_and_stderr_are_independent(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_RANK);
    rig_say(&rig, 0, "op");
    rig_send(&rig, 1, TEXT_CHANNEL_STDERR, "er", 2, false);
    rig_send(&rig, 0, TEXT_CHANNEL_STDERR, "other\n", 6, false);
    rig_send(&rig, 1, TEXT_CHANNEL_STDERR, "ror\n", 4, false);
    rig_say(&rig, 0, "en\n");
    rig_expect_both(&rig, "0: open\n", "1: error\n0: other\n");
}

/* Parked buffers are given back soon: otherwise a link whose window they fill
 * could never bring the rest of the line. */
static void parked_records_are_taken_within_a_tenth_of_a_second(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "one\n");
    rig_say(&rig, 2, "two ");
    rig_say(&rig, 1, "three\n");
    rig_pass(&rig, 90);
    assert_int_equal(rig.taken, 1);
    rig_pass(&rig, 20);
    rig_taken(&rig, 4);
    assert_int_equal(ep_console_pending(rig.con), 3);
    rig_say(&rig, 2, "lines\n");
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "open\none\ntwo lines\nthree\n");
}

/* A piece is written from the spool before its turn, which leaves a gap between
 * whole lines before and after it. */
static void pieces_may_be_taken_from_between_whole_lines(void **state)
{
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "piece ");
    rig_say(&rig, 2, "before\n");
    rig_say(&rig, 1, "by ");
    rig_pass(&rig, 150);
    rig_taken(&rig, 4);
    rig_say(&rig, 0, "en\n");
    rig_taken(&rig, 5);
    rig_say(&rig, 2, "behind\n");
    rig_pass(&rig, 150);
    rig_taken(&rig, 6);
    rig_say(&rig, 1, "piece\n");
    rig_expect(&rig, "open\npiece by piece\nbefore\nbehind\n");
}

/* This is the only test with the real clock: timers wake the console. */
static void a_pause_ends_by_itself(void **state)
{
    struct console_rig rig;

    (void)state;
    rig_prepare(&rig);
    rig.cfg.now_ns = NULL;
    rig_open(&rig);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_run_until(rig.base, &rig.drained, 1);
    rig_say(&rig, 1, "other\n");
    rig_taken(&rig, 2);
    rig_run_until(rig.base, &rig.drained, 2);
    rig_say(&rig, 0, "en\n");
    rig_expect(&rig, "op\nother\nen\n");
}

/* The console waits behind spooled records of an earlier wait, with no record
 * in hand. A loop that spins would read the clock every millisecond. */
static void a_console_that_waits_sleeps(void **state)
{
    const struct timeval moment = {.tv_usec = 50 * 1000};
    struct console_rig rig;

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    rig_say(&rig, 0, "op");
    rig_taken(&rig, 1);
    rig_say(&rig, 1, "two ");
    rig_say(&rig, 2, "other\n");
    rig_pass(&rig, 150);
    rig_taken(&rig, 3);
    rig_say(&rig, 0, "en\n");
    while (ep_console_pending(rig.con) > 1) /* until only "other" is left */
        event_base_loop(rig.base, EVLOOP_ONCE);
    rig_pass(&rig, 150);
    rig.looks = 0;
    event_base_loopexit(rig.base, &moment);
    event_base_dispatch(rig.base);
    assert_in_range(rig.looks, 0, 5);
    rig_say(&rig, 1, "three\n");
    rig_expect(&rig, "open\ntwo three\nother\n");
}

/* ---- errors ---- */

static void a_stuck_stdout_does_not_stop_stderr(void **state)
{
    enum { BIG = 1 << 17, COUNT = 40 };
    struct console_rig rig;
    struct rig_reader rd;
    char *big = malloc(BIG);
    uint64_t since_ns = 0;

    (void)state;
    memset(big, 'x', BIG);
    big[BIG - 1] = '\n';
    open_with(&rig, TEXT_LABEL_RANK);
    for (int i = 0; i < COUNT; i++)
        rig_send(&rig, 1, TEXT_CHANNEL_STDOUT, big, BIG, false);
    rig_reader_start(&rd, rig.err_fd);
    rig.err_fd = -1;
    for (int i = 0; i < COUNT; i++)
        rig_send(&rig, 1, TEXT_CHANNEL_STDERR, big, BIG, false);
    rig_taken(&rig, COUNT);
    assert_int_equal(ep_console_pending(rig.con), COUNT);
    assert_false(ep_console_is_stuck(rig.con, &since_ns));
    rig.now_ns += 7000 * RIG_MS;
    assert_true(ep_console_is_stuck(rig.con, &since_ns));
    assert_int_equal(rig.now_ns - since_ns, 7000 * RIG_MS);
    ep_console_give_up(rig.con);
    rig_taken(&rig, 2 * COUNT);
    assert_int_equal(ep_console_dropped(rig.con), COUNT * BIG);
    rig_say(&rig, 2, "too late\n");
    rig_taken(&rig, 2 * COUNT + 1);
    rig_run_until(rig.base, &rig.drained, 1);
    assert_int_equal(rig.errors, 0);
    rig_close(&rig);
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, COUNT * (BIG + 3));
    free(rd.mem);
    free(big);
}

/* The reader is slow, not the holder of the line: nothing is spooled. */
static void a_slow_output_holds_its_writers_up(void **state)
{
    enum { BIG = 1 << 17, COUNT = 40 };
    struct console_rig rig;
    char *big = malloc(BIG);

    (void)state;
    memset(big, 'x', BIG);
    open_with(&rig, TEXT_LABEL_NONE);
    rig_send(&rig, 0, TEXT_CHANNEL_STDOUT, big, BIG, false);
    for (int i = 0; i < COUNT; i++)
        rig_send(&rig, 1, TEXT_CHANNEL_STDOUT, big, BIG, false);
    rig.is_stuck = true;
    rig_pass(&rig, 10000);
    assert_int_equal(rig.taken, 0);
    ep_console_give_up(rig.con);
    rig_taken(&rig, COUNT + 1);
    rig_close(&rig);
    free(big);
}

static void error_is_told_once(enum text_label_mode label, int fd, int err)
{
    struct console_rig rig;

    rig_prepare(&rig);
    rig.cfg.style.label = label;
    rig.cfg.fd_stdout = fd;
    rig_open(&rig);
    rig_eof(&rig, 7, ""); /* a record without bytes or error */
    rig_taken(&rig, 1);
    assert_int_equal(rig.errors, 0);
    rig_say(&rig, 0, "op");
    rig_say(&rig, 1, "parked\n");
    rig_say(&rig, 1, "line\nop");
    rig_run_until(rig.base, &rig.errors, 1);
    assert_int_equal(rig.err, err);
    assert_int_equal(rig.err_channel, TEXT_CHANNEL_STDOUT);
    for (int i = 0; i < 300; i++)
        rig_say(&rig, 1, "x");
    rig_send(&rig, 1, TEXT_CHANNEL_STDERR, "fine\n", 5, false);
    rig_finish(&rig);
    assert_int_equal(rig.errors, 1);
    rig_close(&rig);
}

static void a_reader_that_left_is_epipe(void **state)
{
    int read_fd;
    int fd;

    (void)state;
    for (int label = TEXT_LABEL_NONE; label < TEXT_LABEL_MODES; label++) {
        fd = rig_pipe(&read_fd);
        close(read_fd);
        error_is_told_once((enum text_label_mode)label, fd, EPIPE);
    }
}

static void a_full_disk_is_enospc(void **state)
{
    (void)state;
    error_is_told_once(TEXT_LABEL_NONE, open("/dev/full", O_WRONLY), ENOSPC);
    error_is_told_once(TEXT_LABEL_RANK, open("/dev/full", O_WRONLY), ENOSPC);
}

static void a_closed_stdout_is_an_error_with_the_first_byte(void **state)
{
    (void)state;
    error_is_told_once(TEXT_LABEL_NONE, 987, EBADF);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct console_rig rig;
    struct ep_console *con;
    struct ep_console_cfg cfg;
    struct job_record rec = {.channel = TEXT_CHANNELS};

    (void)state;
    open_with(&rig, TEXT_LABEL_NONE);
    assert_int_equal(ep_console_record(rig.con, &rec), OV_EINVAL);
    rec.channel = 0;
    assert_int_equal(ep_console_record(rig.con, &rec), OV_EINVAL);
    rec.channel = 1;
    rec.len_bytes = EP_CONSOLE_RECORD_MAX + 1;
    assert_int_equal(ep_console_record(rig.con, &rec), OV_EINVAL);
    cfg = rig.cfg;
    cfg.is_raw = true;
    cfg.style.label = TEXT_LABEL_RANK;
    assert_int_equal(ep_console_open(&cfg, &con), OV_EINVAL);
    cfg.is_raw = false;
    cfg.style.label = TEXT_LABEL_MODES;
    assert_int_equal(ep_console_open(&cfg, &con), OV_EINVAL);
    cfg.style.label = TEXT_LABEL_NONE;
    cfg.style.format = TEXT_FORMATS;
    assert_int_equal(ep_console_open(&cfg, &con), OV_EINVAL);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_alone_is_byte_exact),
        cmocka_unit_test(every_line_is_labelled_with_its_rank),
        cmocka_unit_test(every_line_is_labelled_with_its_host),
        cmocka_unit_test(full_labels_tell_job_rank_and_channel),
        cmocka_unit_test(diagnostics_are_lines_on_stderr),
        cmocka_unit_test(an_open_line_keeps_the_console),
        cmocka_unit_test(a_continued_line_has_one_label),
        cmocka_unit_test(a_pause_below_a_second_tears_nothing),
        cmocka_unit_test(a_pause_of_a_second_lets_others_through),
        cmocka_unit_test(without_labels_a_pause_adds_a_newline_only),
        cmocka_unit_test(a_prompt_that_stood_long_blocks_nobody),
        cmocka_unit_test(a_line_that_holds_up_nobody_is_never_torn),
        cmocka_unit_test(a_late_loop_starts_the_second_anew),
        cmocka_unit_test(the_end_of_a_channel_ends_its_line),
        cmocka_unit_test(with_labels_the_last_line_is_ended),
        cmocka_unit_test(with_labels_the_end_of_a_channel_ends_its_line),
        cmocka_unit_test(a_channel_that_begins_anew_begins_a_line),
        cmocka_unit_test(empty_records_are_taken),
        cmocka_unit_test(raw_bytes_go_out_as_they_come),
        cmocka_unit_test(stdout_and_stderr_are_independent),
        cmocka_unit_test(parked_records_are_taken_within_a_tenth_of_a_second),
        cmocka_unit_test(pieces_may_be_taken_from_between_whole_lines),
        cmocka_unit_test(a_pause_ends_by_itself),
        cmocka_unit_test(a_console_that_waits_sleeps),
        cmocka_unit_test(a_stuck_stdout_does_not_stop_stderr),
        cmocka_unit_test(a_slow_output_holds_its_writers_up),
        cmocka_unit_test(a_reader_that_left_is_epipe),
        cmocka_unit_test(a_full_disk_is_enospc),
        cmocka_unit_test(a_closed_stdout_is_an_error_with_the_first_byte),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
