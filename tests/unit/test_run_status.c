/* The status line: its words, and when there is none. */
#include "config.h"

#include "endpoints/run/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/output/output.h"
#include "endpoints/run/screen.h"
#include "endpoints/run/status_words.h"
#include "text/style.h"

enum { TEXT_BYTES = 256 };

/* --- stand-ins for the functions of the output, which show nothing */

bool ep_output_status(struct ep_output *out, const char *text)
{
    (void)out;
    (void)text;
    fail_msg("a status is shown");
    return false;
}

bool ep_output_hold(struct ep_output *out, bool is_held)
{
    (void)out;
    (void)is_held;
    fail_msg("a status is held");
    return false;
}

void ep_output_forget(struct ep_output *out)
{
    (void)out;
    fail_msg("a status is forgotten");
}

void ep_output_settle(struct ep_output *out)
{
    (void)out;
    fail_msg("a status is erased");
}

static void a_pipe_has_none(void **state)
{
    const struct run_status_cfg cfg = {.base = NULL};
    const int before = dup(STDERR_FILENO);
    struct run_status *status;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
    assert_int_equal(ep_run_screen() & (1u << TEXT_CHANNEL_STDERR), 0);
    assert_int_equal(ep_run_status_open(&cfg, &status), 0);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_null(status);
    assert_true(ep_run_status_hold(status, true));
    assert_false(ep_run_status_tells(status));
    ep_run_status_close(status);
    close(before);
    close(fds[0]);
    close(fds[1]);
}

static void check(const struct run_status_view *view, unsigned columns,
                  const char *want)
{
    char text[TEXT_BYTES];

    ep_run_status_words(view, columns, text, sizeof(text));
    assert_string_equal(text, want);
    assert_true(strlen(text) < columns);
}

static void a_launch_counts_nodes(void **state)
{
    struct run_status_view view = {
        .is_launching = true, .joined = 12, .nodes = 640, .elapsed_s = 67};

    (void)state;
    check(&view, 200, "xylem: 12 of 640 nodes joined, 1:07");
    view.awaited = (char[]){"node[3-4,7]"};
    check(&view, 80,
          "xylem: 12 of 640 nodes joined, 1:07, waiting for node[3-4,7]");
    check(&view, 60, "xylem: 12 of 640 nodes joined, 1:07");
    check(&view, 30, "xylem: 12 of 640 nodes joined");
    check(&view, 11, "xylem: 12 ");
    check(&view, 1, "");
    view.awaited = NULL;
    view.joined = 0;
    view.nodes = 1;
    check(&view, 80, "xylem: 0 of 1 node joined, 1:07");
}

/* A list of hosts of this length always fits. */
static void hosts_are_given_the_room_that_is_left(void **state)
{
    char awaited[TEXT_BYTES];
    struct run_status_view view = {.is_launching = true,
                                   .joined = 123,
                                   .nodes = 1000,
                                   .elapsed_s = 3600,
                                   .awaited = awaited};

    (void)state;
    for (unsigned columns = 80; columns <= 200; columns++) {
        const size_t room = ep_run_status_room(columns);
        char text[TEXT_BYTES];

        memset(awaited, 'n', room);
        strcpy(awaited + room, " and 777 more");
        ep_run_status_words(&view, columns, text, sizeof(text));
        assert_non_null(strstr(text, awaited));
        assert_true(strlen(text) < columns);
    }
}

static void a_job_counts_processes_and_stdin(void **state)
{
    struct run_status_view view = {.processes = 10000,
                                   .over = 321,
                                   .failed = 7,
                                   .has_stdin = true,
                                   .stdin_bytes = UINT64_C(5) << 30,
                                   .stdin_rate = 123 << 20,
                                   .elapsed_s = 3 * 3600 + 62};

    (void)state;
    check(&view, 200,
          "xylem: 9679 running, 314 done, 7 failed, 3:01:02, stdin 5 GiB "
          "(123 MiB/s)");
    check(&view, 50, "xylem: 9679 running, 314 done, 7 failed, 3:01:02");
    check(&view, 45, "xylem: 9679 running, 314 done, 7 failed");
    view.slow_host = "node7";
    view.slow_rank = 17;
    check(&view, 200,
          "xylem: 9679 running, 314 done, 7 failed, 3:01:02, stdin 5 GiB "
          "(123 MiB/s), slowest: rank 17 on node7");
    check(&view, 90,
          "xylem: 9679 running, 314 done, 7 failed, 3:01:02, stdin 5 GiB, "
          "slowest: rank 17 on node7");
    check(&view, 80,
          "xylem: 9679 running, 314 done, 7 failed, 3:01:02, stdin 5 GiB "
          "(123 MiB/s)");
    check(&view, 70,
          "xylem: 9679 running, 314 done, 7 failed, 3:01:02, stdin 5 GiB");
    view.over = 7;
    view.is_starting = true;
    view.has_stdin = false;
    check(&view, 80, "xylem: 9993 starting, 7 failed, 3:01:02");
}

/* A reader that happens to be the last once does not count as slow. */
static void a_reader_lags_that_is_slow_twice(void **state)
{
    const struct run_status_view slow = {
        .slow_host = "node7", .slow_rank = 17, .stdin_base = 5};
    struct run_status_view now = slow, before = slow;

    (void)state;
    assert_true(ep_run_status_lags(&before, &now));
    now.stdin_base = 6;
    assert_false(ep_run_status_lags(&before, &now));
    now.is_uneven = true;
    assert_false(ep_run_status_lags(&before, &now));
    before.is_uneven = true;
    assert_true(ep_run_status_lags(&before, &now));
    before.slow_rank = 16;
    assert_false(ep_run_status_lags(&before, &now));
    before.slow_rank = 17;
    before.slow_host = NULL;
    assert_false(ep_run_status_lags(&before, &now));
}

static void sizes_have_three_digits(void **state)
{
    struct run_status_view view = {.processes = 4, .has_stdin = true};

    (void)state;
    view.stdin_bytes = 999;
    check(&view, 80, "xylem: 4 running, 0:00, stdin 999 bytes (0 bytes/s)");
    view.stdin_bytes = 1000;
    check(&view, 80, "xylem: 4 running, 0:00, stdin 0.977 KiB (0 bytes/s)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_has_none),
        cmocka_unit_test(a_launch_counts_nodes),
        cmocka_unit_test(hosts_are_given_the_room_that_is_left),
        cmocka_unit_test(a_job_counts_processes_and_stdin),
        cmocka_unit_test(a_reader_lags_that_is_slow_twice),
        cmocka_unit_test(sizes_have_three_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
