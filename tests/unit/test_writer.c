/* Sinks on real pipes: order, independence, errors, and ends. */
#include "config.h"

#include "endpoints/sys/writer.h"

#include "tests/unit/rig.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "overlay/base/err.h"

enum { BIG_BYTES = 3 << 20 };

static unsigned threads_at_start;

struct fixture {
    struct event_base *base;
    struct ep_writer *w;
    struct ep_sink *sink;
    struct ep_sink *victim; /* the sink that the next on_written closes */
    int pipe[2];
    unsigned written;
    unsigned errors;
    unsigned failed;
    unsigned batches;
    int err;
    uint64_t cookie;
    bool is_ordered;
};

static void on_written(void *arg, uint64_t cookie)
{
    struct fixture *fx = arg;

    fx->is_ordered = fx->is_ordered && cookie == fx->cookie + 1;
    fx->cookie = cookie;
    fx->written++;
    if (fx->victim != NULL) {
        assert_true(ep_sink_close(fx->victim, false));
        fx->victim = NULL;
    }
}

static void on_error(void *arg, int err)
{
    struct fixture *fx = arg;

    fx->err = err;
    fx->errors++;
}

static void on_failed(void *arg, uint64_t cookie, int err)
{
    struct fixture *fx = arg;

    fx->cookie = cookie;
    fx->err = err;
    fx->failed++;
}

static void on_batch_end(void *arg)
{
    struct fixture *fx = arg;

    fx->batches++;
}

static const struct ep_sink_events events = {
    .on_written = on_written,
    .on_error = on_error,
    .on_failed = on_failed,
    .on_batch_end = on_batch_end,
};

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    signal(SIGPIPE, SIG_IGN);
    fx->is_ordered = true;
    fx->base = event_base_new();
    assert_non_null(fx->base);
    assert_int_equal(ep_writer_open(fx->base, &fx->w), 0);
    rig_wide_pipe(fx->pipe);
    assert_int_equal(ep_sink_open(fx->w, fx->pipe[1], &events, fx, &fx->sink),
                     0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_writer_close(fx->w, true);
    event_base_free(fx->base);
    for (int i = 0; i < 2; i++) {
        if (fx->pipe[i] >= 0)
            close(fx->pipe[i]);
    }
    free(fx);
    return 0;
}

static void put(struct ep_sink *sink, const void *mem, size_t len,
                uint64_t cookie)
{
    const struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                              .iov_len = len};

    assert_int_equal(ep_sink_write(sink, &iov, 1, cookie), 0);
}

static void reader_start(struct fixture *fx, struct rig_reader *rd)
{
    rig_reader_start(rd, fx->pipe[0]);
    fx->pipe[0] = -1;
}

static void writer_end_close(struct fixture *fx)
{
    close(fx->pipe[1]);
    fx->pipe[1] = -1;
}

static uint8_t *big_new(uint32_t salt)
{
    uint8_t *mem = malloc(BIG_BYTES);
    uint64_t seed = salt;

    for (size_t i = 0; i < BIG_BYTES; i++)
        mem[i] = (uint8_t)rig_random(&seed);
    return mem;
}

/* Writes of several pieces, empty ones among them, follow each other without a
 * gap. */
static void jobs_are_written_whole_and_in_order(void **state)
{
    struct fixture *fx = *state;
    struct rig_reader rd;
    struct iovec iov[EP_SINK_IOV_MAX] = {
        {.iov_base = (char[]){"one "}, .iov_len = 4},
        {.iov_base = NULL, .iov_len = 0},
        {.iov_base = (char[]){"two "}, .iov_len = 4},
        {.iov_base = (char[]){"three "}, .iov_len = 6},
    };
    uint8_t *big = big_new(1);

    assert_int_equal(ep_sink_write(fx->sink, iov, 4, 1), 0);
    put(fx->sink, big, BIG_BYTES, 2);
    assert_int_equal(ep_sink_write(fx->sink, NULL, 0, 3), 0);
    put(fx->sink, "end", 3, 4);
    reader_start(fx, &rd);
    rig_run_until(fx->base, &fx->written, 4);
    assert_true(fx->is_ordered);
    assert_true(fx->batches > 0);
    assert_int_equal(ep_sink_progress(fx->sink), 14 + BIG_BYTES + 3);
    assert_true(ep_sink_close(fx->sink, false));
    writer_end_close(fx);
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, 14 + BIG_BYTES + 3);
    assert_memory_equal(rd.mem, "one two three ", 14);
    assert_memory_equal(rd.mem + 14, big, BIG_BYTES);
    assert_memory_equal(rd.mem + 14 + BIG_BYTES, "end", 3);
    free(rd.mem);
    free(big);
}

/* The first pipe is not read; data flows through the second one all the
 * same. */
static void a_stuck_pipe_does_not_hold_up_another(void **state)
{
    struct fixture *fx = *state;
    struct ep_sink *other;
    struct rig_reader rd;
    uint8_t *big = big_new(2);
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(ep_sink_open(fx->w, fds[1], &events, fx, &other), 0);
    close(fds[1]);
    put(fx->sink, big, BIG_BYTES, 100);
    rig_reader_start(&rd, fds[0]);
    for (uint64_t i = 1; i <= 8; i++)
        put(other, big, BIG_BYTES, i);
    rig_run_until(fx->base, &fx->written, 8);
    assert_int_equal(fx->cookie, 8);
    assert_true(ep_sink_close(other, false));
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, 8 * BIG_BYTES);
    assert_true(ep_sink_progress(fx->sink) < BIG_BYTES);
    free(rd.mem);
    assert_true(ep_sink_close(fx->sink, true));
    free(big);
}

/* The memory can be freed as soon as giving up returns: the sanitizers would
 * see the thread touch it. */
static void giving_up_ends_a_blocked_write(void **state)
{
    struct fixture *fx = *state;
    uint8_t *big = big_new(3);

    put(fx->sink, big, BIG_BYTES, 1);
    put(fx->sink, big, BIG_BYTES, 2);
    /* Waits until the pipe is full: by then the thread is in the kernel. */
    while (rig_readable(fx->pipe[0]) < 1 << 16)
        sched_yield();
    assert_true(ep_sink_close(fx->sink, true));
    memset(big, 0, BIG_BYTES);
    free(big);
    assert_int_equal(fx->written, 0);
}

/* The terminal was stopped by Ctrl-S, or nobody reads it. */
static void giving_up_ends_a_blocked_terminal(void **state)
{
    struct fixture *fx = *state;
    struct ep_sink *sink;
    uint8_t *big = big_new(7);
    int slave;
    int master = rig_terminal(&slave);

    assert_int_equal(ep_sink_open(fx->w, slave, &events, fx, &sink), 0);
    put(sink, big, BIG_BYTES, 1);
    while (ep_sink_progress(sink) == 0 && rig_readable(master) == 0)
        sched_yield();
    assert_true(ep_sink_close(sink, true));
    free(big);
    rig_threads_until(threads_at_start);
    assert_int_equal(fx->written, 0);
    close(slave);
    close(master);
}

static void closing_waits_for_what_is_queued(void **state)
{
    struct fixture *fx = *state;
    struct rig_reader rd;
    uint8_t *big = big_new(4);

    for (uint64_t i = 1; i <= 5; i++)
        put(fx->sink, big, BIG_BYTES, i);
    reader_start(fx, &rd);
    assert_true(ep_sink_close(fx->sink, false));
    writer_end_close(fx);
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, 5 * BIG_BYTES);
    assert_int_equal(fx->written, 0);
    free(rd.mem);
    free(big);
}

static void a_reader_that_left_is_told_once_and_for_all(void **state)
{
    struct fixture *fx = *state;
    const struct iovec iov = {.iov_base = (char[]){"x"}, .iov_len = 1};

    close(fx->pipe[0]);
    fx->pipe[0] = -1;
    for (uint64_t i = 1; i <= 20; i++)
        assert_true(ep_sink_write(fx->sink, &iov, 1, i) != OV_EFULL);
    rig_run_until(fx->base, &fx->errors, 1);
    assert_int_equal(fx->err, EPIPE);
    assert_int_equal(ep_sink_write(fx->sink, &iov, 1, 21), OV_ECLOSED);
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
    assert_int_equal(fx->errors, 1);
    assert_int_equal(fx->written, 0);
}

static void a_full_disk_is_an_error(void **state)
{
    struct fixture *fx = *state;
    struct ep_sink *sink;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ep_sink_open(fx->w, fd, &events, fx, &sink), 0);
    close(fd);
    put(sink, "x", 1, 1);
    rig_run_until(fx->base, &fx->errors, 1);
    assert_int_equal(fx->err, ENOSPC);
}

static void a_closed_descriptor_cannot_be_opened(void **state)
{
    struct fixture *fx = *state;
    struct ep_sink *sink;

    assert_int_equal(ep_sink_open(fx->w, 987, &events, fx, &sink), OV_ESYS);
    assert_int_equal(errno, EBADF);
}

/* The ring refuses one job too many, and accepts it after an answer. */
static void a_full_queue_refuses_until_a_job_is_answered(void **state)
{
    struct fixture *fx = *state;
    struct iovec iov = {.iov_base = (char[]){"x"}, .iov_len = 1};
    struct rig_reader rd;
    uint8_t *big = big_new(5);

    put(fx->sink, big, BIG_BYTES, 1); /* this write blocks */
    for (uint64_t i = 2; i <= EP_SINK_JOBS_MAX; i++)
        put(fx->sink, "x", 1, i);
    assert_int_equal(ep_sink_write(fx->sink, &iov, 1, 0), OV_EFULL);
    reader_start(fx, &rd);
    rig_run_until(fx->base, &fx->written, EP_SINK_JOBS_MAX);
    put(fx->sink, "x", 1, EP_SINK_JOBS_MAX + 1);
    rig_run_until(fx->base, &fx->written, EP_SINK_JOBS_MAX + 1);
    assert_true(fx->is_ordered);
    assert_true(ep_sink_close(fx->sink, false));
    writer_end_close(fx);
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, BIG_BYTES + EP_SINK_JOBS_MAX);
    free(rd.mem);
    free(big);
}

static void wrong_piece_counts_are_refused(void **state)
{
    struct fixture *fx = *state;
    struct iovec iov[EP_SINK_IOV_MAX + 1] = {{.iov_base = NULL}};

    assert_int_equal(ep_sink_write(fx->sink, iov, EP_SINK_IOV_MAX + 1, 1),
                     OV_EINVAL);
    assert_int_equal(ep_sink_write(fx->sink, iov, -1, 1), OV_EINVAL);
}

struct call {
    int result;
    pthread_t thread;
};

static int call_main(void *arg)
{
    struct call *call = arg;

    call->thread = pthread_self();
    return call->result;
}

/* A call that fails does not affect other calls. */
static void calls_run_in_the_thread_and_fail_alone(void **state)
{
    struct fixture *fx = *state;
    struct call calls[3] = {{.result = 0}, {.result = EDOM}, {.result = 0}};
    struct ep_sink *sink;

    assert_int_equal(ep_sink_open(fx->w, -1, &events, fx, &sink), 0);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(ep_sink_call(sink, call_main, &calls[i], i), 0);
    rig_run_until(fx->base, &fx->written, 2);
    assert_int_equal(fx->failed, 1);
    assert_int_equal(fx->err, EDOM);
    assert_int_equal(fx->errors, 0);
    assert_int_equal(fx->cookie, 2);
    assert_false(pthread_equal(calls[0].thread, pthread_self()));
}

/* Another program with the same open file has made it non-blocking. */
static void a_non_blocking_descriptor_is_waited_for(void **state)
{
    struct fixture *fx = *state;
    struct rig_reader rd;
    uint8_t *big = big_new(6);

    assert_int_equal(fcntl(fx->pipe[1], F_SETFL, O_NONBLOCK), 0);
    put(fx->sink, big, BIG_BYTES, 1);
    reader_start(fx, &rd);
    rig_run_until(fx->base, &fx->written, 1);
    assert_true(ep_sink_close(fx->sink, false));
    writer_end_close(fx);
    rig_reader_join(&rd);
    assert_int_equal(rd.len_bytes, BIG_BYTES);
    assert_memory_equal(rd.mem, big, BIG_BYTES);
    free(rd.mem);
    free(big);
}

static void the_open_description_is_left_as_it_was(void **state)
{
    struct fixture *fx = *state;
    const int before = fcntl(fx->pipe[1], F_GETFL);

    put(fx->sink, "x", 1, 1);
    rig_run_until(fx->base, &fx->written, 1);
    assert_int_equal(fcntl(fx->pipe[1], F_GETFL), before);
    assert_false(before & O_NONBLOCK);
}

/* A sink closes itself, and another sink, both from within on_written. */
static void sinks_may_be_closed_in_their_callbacks(void **state)
{
    struct fixture *fx = *state;
    struct ep_sink *other;

    assert_int_equal(ep_sink_open(fx->w, fx->pipe[1], &events, fx, &other), 0);
    fx->victim = other;
    put(fx->sink, "x", 1, 1);
    rig_run_until(fx->base, &fx->written, 1);
    assert_null(fx->victim);
    fx->victim = fx->sink;
    put(fx->sink, "y", 1, 2);
    put(fx->sink, "z", 1, 3);
    rig_run_until(fx->base, &fx->written, 2);
    assert_null(fx->victim);
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
    assert_int_equal(fx->written, 2);
}

#define WITH_PIPE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PIPE(jobs_are_written_whole_and_in_order),
        WITH_PIPE(a_stuck_pipe_does_not_hold_up_another),
        WITH_PIPE(giving_up_ends_a_blocked_write),
        WITH_PIPE(giving_up_ends_a_blocked_terminal),
        WITH_PIPE(closing_waits_for_what_is_queued),
        WITH_PIPE(a_reader_that_left_is_told_once_and_for_all),
        WITH_PIPE(a_full_disk_is_an_error),
        WITH_PIPE(a_closed_descriptor_cannot_be_opened),
        WITH_PIPE(a_full_queue_refuses_until_a_job_is_answered),
        WITH_PIPE(wrong_piece_counts_are_refused),
        WITH_PIPE(calls_run_in_the_thread_and_fail_alone),
        WITH_PIPE(a_non_blocking_descriptor_is_waited_for),
        WITH_PIPE(the_open_description_is_left_as_it_was),
        WITH_PIPE(sinks_may_be_closed_in_their_callbacks),
    };

    threads_at_start = rig_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
