/* A stream of stdin that several jobs share: which part of it is consumed, and
 * which reader gets which bytes. */
#include "config.h"

#include "endpoints/daemon/stdin_stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/daemon/feed.h"
#include "overlay/base/buf.h"
#include "overlay/base/err.h"
#include "overlay/wire/frame.h"
#include "overlay/wire/push.h"
#include "tests/unit/rig.h"

enum { BUF_BYTES = 128 * 1024, JOBS = 2, SIZE = 10 };

static struct {
    struct event_base *base;
    struct ep_stdin_stream *stream;
    struct ep_inlet *inlets[JOBS];
    int fds[JOBS]; /* the pipe that the job's only reader reads */
    uint32_t pipe_bytes;
    uint64_t consumed;
    uint32_t behind;
    unsigned told, bufs;
} fx;

static void on_consumed(void *arg, uint64_t frames_total, uint32_t proc)
{
    assert_ptr_equal(arg, &fx);
    assert_true(frames_total >= fx.consumed);
    fx.consumed = frames_total;
    fx.behind = proc;
    fx.told++;
}

static void on_free(void *arg, struct ov_buf *buf)
{
    assert_ptr_equal(arg, &fx);
    free(buf);
    fx.bufs--;
}

static void on_slow(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err)
{
    (void)arg;
    (void)proc;
    (void)what;
    (void)err;
    fail_msg("nobody is slow");
}

/* Job 0 has the processes 10 to 19, job 1 has 20 to 29; one process of each
 * reads here. */
static void open_job(unsigned job)
{
    const uint32_t first = (job + 1) * SIZE;
    int pair[2];

    assert_int_equal(ep_inlet_open(fx.stream,
                                   (struct topo_range){first, first + SIZE - 1},
                                   &fx.inlets[job]),
                     0);
    assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
    /* the pipe holds one page */
    fx.pipe_bytes = (uint32_t)fcntl(pair[1], F_SETPIPE_SZ, 1);
    assert_in_range(fx.pipe_bytes, 1, BUF_BYTES / 2);
    fx.fds[job] = pair[0];
    assert_int_equal(
        ep_feed_join(ep_inlet_feed(fx.inlets[job]), pair[1], first + job), 0);
}

static int setup(void **state)
{
    static const struct ep_stdin_stream_events events = {
        .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};

    (void)state;
    memset(&fx, 0, sizeof(fx));
    fx.base = event_base_new();
    assert_int_equal(ep_stdin_stream_open(fx.base, &events, &fx, &fx.stream),
                     0);
    for (unsigned job = 0; job < JOBS; job++)
        open_job(job);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ep_stdin_stream_close(fx.stream);
    for (unsigned job = 0; job < JOBS; job++)
        close(fx.fds[job]);
    event_base_free(fx.base);
    assert_int_equal(fx.bufs, 0);
    return 0;
}

/* A message for the processes from first to last, or for the same set as
 * before; its text is `count` times this character. */
static void take(uint32_t first, uint32_t last, char what, uint32_t count)
{
    struct ov_buf *buf = calloc(1, sizeof(*buf) + BUF_BYTES);
    struct topo_range range = {first, last};
    bool is_new = first <= last;
    struct ov_slice slice = {.buf = buf};
    struct ov_wr wr;

    assert_non_null(buf);
    buf->mem = (uint8_t *)(buf + 1);
    buf->cap_bytes = BUF_BYTES;
    buf->refs = 1;
    fx.bufs++;
    wr = ov_wr_init(buf->mem, BUF_BYTES);
    ov_push_encode(&wr, is_new ? OV_PUSH_NEW : 0, &range, is_new);
    memset(wr.at, what, count);
    slice.len_bytes = (uint32_t)(wr.at - buf->mem) + count;
    ep_stdin_stream_take(fx.stream, &slice, OV_DOWN_SOME);
    if (ov_buf_unref(buf))
        on_free(&fx, buf);
}

static void settle(void)
{
    while (event_base_loop(fx.base, EVLOOP_NONBLOCK) == 0 &&
           event_base_get_num_events(fx.base, EVENT_BASE_COUNT_ACTIVE) > 0)
        ;
    for (unsigned i = 0; i < 10; i++)
        event_base_loop(fx.base, EVLOOP_NONBLOCK);
}

/* Returns what the reader of a job has got since the last call: "" for
 * nothing. */
static const char *got(unsigned job)
{
    static char text[BUF_BYTES];
    ssize_t len;

    settle();
    len = read(fx.fds[job], text, sizeof(text) - 1);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

/* --- tests */

static void each_job_has_its_own(void **state)
{
    (void)state;
    take(10, 12, 'a', 3);
    take(1, 0, 'b', 2);
    take(20, 29, 'c',
         1); /* the second reader, number 21, gets these bytes, too */
    take(1, 0, 'd', 1);
    take(15, 19, 'e', 1); /* not for number 10 */
    assert_string_equal(got(0), "aaabb");
    assert_string_equal(got(1), "cd");
    assert_int_equal(fx.consumed, 5);
    assert_int_equal(fx.behind, TOPO_NONE);
}

/* The first frame that a reader still waits for stops the count; later frames
 * count when that frame is done. */
static void the_count_stands_at_who_does_not_read(void **state)
{
    (void)state;
    take(20, 29, 'x', 1);
    take(10, 19, 'a', fx.pipe_bytes);
    take(20, 29, 'y', 1);
    settle();
    assert_int_equal(fx.consumed, 3);
    take(10, 19, 'b', 1);
    take(20, 29, 'z', 1);
    take(30, 39, 'z', 1); /* for processes of no job */
    assert_string_equal(got(1), "xyz");
    assert_int_equal(fx.consumed, 3);
    assert_int_equal(strlen(got(0)), fx.pipe_bytes);
    assert_string_equal(got(0), "b");
    assert_int_equal(fx.consumed, 6);
}

/* The process that is furthest behind is named when four frames wait. */
static void who_holds_it_is_known_by_name(void **state)
{
    (void)state;
    take(10, 19, 'a', fx.pipe_bytes);
    settle();
    fx.told = 0;
    for (unsigned i = 0; i < 3; i++)
        take(1, 0, 'b', 1);
    settle();
    assert_int_equal(fx.told, 0);
    take(20, 29, 'c', 1);
    assert_int_equal(fx.told, 1);
    assert_int_equal(fx.consumed, 1);
    assert_int_equal(fx.behind, 10);
}

/* When the job ends, the frame is no longer waited for. */
static void what_a_job_leaves_is_consumed(void **state)
{
    (void)state;
    take(10, 19, 'a', fx.pipe_bytes);
    for (unsigned i = 0; i < 100; i++) {
        take(10, 19, 'b', 1);
        take(20, 29, 'c', 1);
    }
    settle();
    assert_int_equal(fx.consumed, 1);
    ep_inlet_close(fx.inlets[0]);
    assert_int_equal(fx.consumed, 201);
    assert_int_equal(strlen(got(1)), 100);
    take(10, 19, 'a', 1);
    take(1, 0, 'a', 1);
    take(20, 29, 'd', 1);
    assert_string_equal(got(1), "d");
    assert_int_equal(fx.consumed, 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_job_has_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(the_count_stands_at_who_does_not_read,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(who_holds_it_is_known_by_name, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_a_job_leaves_is_consumed, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
