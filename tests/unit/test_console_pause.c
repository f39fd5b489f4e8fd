/* A pause of the console between two lines of stderr, for programs that write
 * beside the console. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_rig.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum { LONG_BYTES = 120 * 1024, OBJECTS = 6, SEEN_MAX = 1 << 20 };

/* The bytes that were read from a descriptor. */
struct seen {
    int fd;
    char *text;
    size_t len;
};

static struct seen see(int fd)
{
    struct seen seen = {.fd = fd, .text = calloc(1, SEEN_MAX)};

    assert_non_null(seen.text);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return seen;
}

static void read_some(struct seen *seen)
{
    ssize_t got;

    do {
        got = read(seen->fd, seen->text + seen->len, SEEN_MAX - 1 - seen->len);
        seen->len += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    seen->text[seen->len] = '\0';
}

/* Reads until the console pauses, and everything written before that. */
static void await_pause(struct console_rig *rig, struct seen *seen)
{
    struct pollfd ready = {.fd = seen->fd, .events = POLLIN};

    while (rig->pauses == 0) {
        read_some(seen);
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
        poll(&ready, 1, 1);
    }
    read_some(seen);
}

static void open_rig(struct console_rig *rig, enum text_label_mode label,
                     enum text_format_kind format)
{
    rig_prepare(rig);
    rig->cfg.style.label = label;
    rig->cfg.style.format = format;
    rig_open(rig);
}

static void fault(struct console_rig *rig, uint32_t rank, const char *text)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDERR, text, strlen(text), false);
}

/* Returns a line, with its newline, that is longer than a block of the
 * console. */
static char *long_line(void)
{
    char *line = malloc(LONG_BYTES + 2);

    memset(line, 'x', LONG_BYTES);
    strcpy(line + LONG_BYTES, "\n");
    return line;
}

/* Counts lines when everything was read; the last byte must end a line. */
static unsigned lines_of(const struct seen *seen)
{
    unsigned lines = 0;

    assert_int_equal(seen->text[seen->len - 1], '\n');
    for (const char *at = seen->text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

/* Lines that come later wait until the pause is over. */
static void it_is_behind_the_object_that_is_on_its_way(void **state)
{
    struct console_rig rig;
    struct seen seen;
    char *line = long_line();

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_JSON);
    seen = see(rig.err_fd);
    for (unsigned i = 0; i < OBJECTS; i++)
        fault(&rig, i, line);
    assert_false(ep_console_pause(rig.con));
    await_pause(&rig, &seen);
    assert_in_range(lines_of(&seen), 1, OBJECTS - 1);
    assert_int_equal(ep_console_pending(rig.con), OBJECTS - lines_of(&seen));
    assert_true(ep_console_pause(rig.con));
    ep_console_resume(rig.con);
    while (ep_console_pending(rig.con) > 0) {
        read_some(&seen);
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    }
    read_some(&seen);
    assert_int_equal(lines_of(&seen), OBJECTS);
    free(line);
    free(seen.text);
    rig_close(&rig);
}

/* A line comes in two pieces, with lines of other processes after it. */
static void it_is_where_a_line_ends(enum text_label_mode label,
                                    const char *before)
{
    struct console_rig rig;
    struct seen seen;

    open_rig(&rig, label, TEXT_FORMAT_TEXT);
    seen = see(rig.err_fd);
    fault(&rig, 0, "op");
    rig_taken(&rig, 1);
    assert_false(ep_console_pause(rig.con));
    fault(&rig, 1, "other\n");
    fault(&rig, 0, "en\n");
    await_pause(&rig, &seen);
    assert_string_equal(seen.text, before);
    ep_console_resume(rig.con);
    free(seen.text);
    rig_finish(&rig);
    rig_close(&rig);
}

static void it_is_where_a_labelled_line_ends(void **state)
{
    (void)state;
    it_is_where_a_line_ends(TEXT_LABEL_RANK, "0: open\n");
}

static void it_is_where_a_plain_line_ends(void **state)
{
    (void)state;
    it_is_where_a_line_ends(TEXT_LABEL_NONE, "open\n");
}

/* The pause begins after a second, as for other waiting output
 * (endpoints/console/port.h). */
static void it_does_not_wait_for_ever_for_the_end_of_a_line(void **state)
{
    struct console_rig rig;
    struct seen seen;

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_TEXT);
    seen = see(rig.err_fd);
    fault(&rig, 0, "name? ");
    rig_taken(&rig, 1);
    assert_false(ep_console_pause(rig.con));
    rig_pass(&rig, 900);
    assert_false(ep_console_pause(rig.con));
    rig_pass(&rig, 200);
    assert_true(ep_console_pause(rig.con));
    fault(&rig, 0, "it goes on"); /* too late: the pause has begun */
    assert_true(ep_console_pause(rig.con));
    ep_console_resume(rig.con);
    rig_taken(&rig, 2);
    free(seen.text);
    rig_finish(&rig);
    rig_close(&rig);
}

/* stdout is not read, but the pause is wanted for stderr only. */
static void stdout_is_not_in_its_way(void **state)
{
    struct console_rig rig;
    char *line = long_line();

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_TEXT);
    rig.is_stuck = true;
    rig_say(&rig, 0, line);
    assert_true(ep_console_pause(rig.con));
    ep_console_resume(rig.con);
    ep_console_give_up(rig.con);
    rig_taken(&rig, 1);
    free(line);
    rig_close(&rig);
}

/* stdout and stderr are separate outputs into one file: the pause waits for
 * each. It does not wait for unfinished lines, which are shown there at
 * once. */
static void stdout_is_in_its_way_where_it_is_the_same_file(void **state)
{
    struct console_rig rig;
    struct seen seen;
    char *line = long_line();

    (void)state;
    rig_prepare(&rig);
    rig.is_one_file = true;
    rig.cfg.is_prompting = true;
    rig_open(&rig);
    seen = see(rig.out_fd);
    rig_say(&rig, 0, "name? ");
    rig_taken(&rig, 1);
    assert_true(ep_console_pause(rig.con));
    ep_console_resume(rig.con);
    rig_say(&rig, 0, line);
    assert_false(ep_console_pause(rig.con));
    await_pause(&rig, &seen);
    ep_console_resume(rig.con);
    rig_finish(&rig);
    free(line);
    free(seen.text);
    rig_close(&rig);
}

/* No output could be written in the meantime. */
static void a_time_in_which_nobody_looked_does_not_count(void **state)
{
    struct console_rig rig;

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_TEXT);
    fault(&rig, 0, "x");
    rig_taken(&rig, 1);
    assert_false(ep_console_pause(rig.con));
    rig.now_ns += 60000 * RIG_MS;
    assert_false(ep_console_pause(rig.con));
    rig_pass(&rig, 900);
    assert_false(ep_console_pause(rig.con));
    rig_pass(&rig, 200);
    assert_true(ep_console_pause(rig.con));
    ep_console_resume(rig.con);
    rig_finish(&rig);
    rig_close(&rig);
}

/* The line goes on for ten seconds. */
static void it_does_not_wait_for_ever_for_a_line_without_end(void **state)
{
    struct console_rig rig;
    unsigned halves = 0; /* counts half seconds */

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_TEXT);
    fault(&rig, 0, "x");
    rig_taken(&rig, 1);
    while (!ep_console_pause(rig.con)) {
        rig_pass(&rig, 500);
        fault(&rig, 0, "x");
        rig_taken(&rig, rig.sent);
        halves++;
    }
    assert_int_equal(halves, 20);
    ep_console_resume(rig.con);
    rig_finish(&rig);
    rig_close(&rig);
}

/* A message can be written even when the output was given up. */
static void it_is_there_when_all_is_given_up(void **state)
{
    struct console_rig rig;
    char *line = long_line();

    (void)state;
    open_rig(&rig, TEXT_LABEL_NONE, TEXT_FORMAT_JSON);
    rig.is_stuck = true;
    fault(&rig, 0, line);
    assert_false(ep_console_pause(rig.con));
    ep_console_give_up(rig.con);
    rig_run_until(rig.base, &rig.pauses, 1);
    assert_true(ep_console_pause(rig.con));
    rig_taken(&rig, 1);
    free(line);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_behind_the_object_that_is_on_its_way),
        cmocka_unit_test(it_is_where_a_labelled_line_ends),
        cmocka_unit_test(it_is_where_a_plain_line_ends),
        cmocka_unit_test(it_does_not_wait_for_ever_for_the_end_of_a_line),
        cmocka_unit_test(a_time_in_which_nobody_looked_does_not_count),
        cmocka_unit_test(it_does_not_wait_for_ever_for_a_line_without_end),
        cmocka_unit_test(stdout_is_not_in_its_way),
        cmocka_unit_test(stdout_is_in_its_way_where_it_is_the_same_file),
        cmocka_unit_test(it_is_there_when_all_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
