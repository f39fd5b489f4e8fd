/* Pipes, buffers and callbacks of a feed under test. */
#include "config.h"

#include "tests/unit/hose.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "tests/unit/rig.h"

static void on_consumed(void *arg, uint64_t frames_total)
{
    struct hose *hose = arg;

    assert_true(frames_total > hose->consumed);
    hose->consumed = frames_total;
    hose->told++;
    if (hose->close_when_told) {
        ep_feed_close(hose->feed);
        hose->feed = NULL;
    }
}

static void on_free(void *arg, struct ov_buf *buf)
{
    struct hose *hose = arg;

    assert_int_equal(buf->refs, 0);
    hose->buffers--;
    free(buf->mem);
    free(buf);
}

static void on_slow(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err)
{
    struct hose *hose = arg;

    hose->slow_told++;
    hose->slow_proc = proc;
    hose->slow_what = what;
    hose->slow_err = err;
}

static const struct ep_feed_events hose_events = {
    .on_consumed = on_consumed, .on_free = on_free, .on_slow = on_slow};

int hose_setup(void **state)
{
    struct hose *hose = calloc(1, sizeof(*hose));

    assert_non_null(hose);
    signal(SIGPIPE, SIG_IGN);
    hose->base = event_base_new();
    assert_non_null(hose->base);
    assert_int_equal(ep_feed_open(hose->base, &hose_events, hose, &hose->feed),
                     0);
    for (unsigned i = 0; i < READERS_MAX; i++)
        hose->readers[i].fd = -1;
    *state = hose;
    return 0;
}

void hose_close(struct hose *hose, uint32_t proc)
{
    if (hose->readers[proc].fd >= 0)
        close(hose->readers[proc].fd);
    hose->readers[proc].fd = -1;
}

int hose_teardown(void **state)
{
    struct hose *hose = *state;

    ep_feed_close(hose->feed);
    assert_int_equal(hose->buffers, 0);
    for (uint32_t i = 0; i < READERS_MAX; i++)
        hose_close(hose, i);
    event_base_free(hose->base);
    free(hose->stream);
    free(hose);
    return 0;
}

int hose_add(struct hose *hose, uint32_t proc)
{
    int fds[2];
    int rc;

    rig_wide_pipe(fds);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    rc = ep_feed_target(hose->feed, fds[1], proc);
    if (rc != 0) {
        close(fds[0]);
        close(fds[1]);
        return rc;
    }
    hose->readers[proc] = (struct reader){.fd = fds[0]};
    return 0;
}

enum { MARGIN = 7 };

static struct ov_buf *make_buf(struct hose *hose, uint32_t len)
{
    struct ov_buf *buf = calloc(1, sizeof(*buf));

    assert_non_null(buf);
    buf->cap_bytes = len + 2 * MARGIN;
    buf->mem = malloc(buf->cap_bytes);
    assert_non_null(buf->mem);
    memset(buf->mem, '#', buf->cap_bytes);
    buf->refs = 1;
    hose->buffers++;
    return buf;
}

int hose_push_mem(struct hose *hose, const uint8_t *mem, uint32_t len,
                  bool is_for_some)
{
    struct ov_buf *buf = make_buf(hose, len);
    int rc;

    if (len > 0)
        memcpy(buf->mem + MARGIN, mem, len);
    rc = (is_for_some ? ep_feed_push_some : ep_feed_push)(hose->feed, buf,
                                                          MARGIN, len);
    if (ov_buf_unref(buf))
        on_free(hose, buf);
    return rc;
}

int hose_push(struct hose *hose, uint32_t len)
{
    struct ov_buf *buf = make_buf(hose, len);
    int rc;

    if (hose->stream_bytes + len > hose->stream_room) {
        hose->stream_room = (hose->stream_bytes + len) * 2;
        hose->stream = realloc(hose->stream, hose->stream_room);
        assert_non_null(hose->stream);
    }
    for (uint32_t i = 0; i < len; i++) {
        size_t place = hose->stream_bytes + i;

        buf->mem[MARGIN + i] = (uint8_t)(place ^ place >> 8 ^ place >> 16);
    }
    if (len > 0)
        memcpy(hose->stream + hose->stream_bytes, buf->mem + MARGIN, len);
    rc = ep_feed_push(hose->feed, buf, MARGIN, len);
    if (rc == 0)
        hose->stream_bytes += len;
    if (ov_buf_unref(buf))
        on_free(hose, buf);
    return rc;
}

void hose_settle(struct hose *hose)
{
    for (unsigned i = 0; i < 50; i++)
        event_base_loop(hose->base, EVLOOP_NONBLOCK);
}

size_t hose_drink(struct hose *hose, uint32_t proc, size_t most)
{
    static uint8_t dst[PIPE_BYTES];
    struct reader *reader = &hose->readers[proc];
    size_t total = 0;

    while (total < most && !reader->at_end) {
        size_t wanted = most - total < sizeof(dst) ? most - total : sizeof(dst);
        ssize_t got = read(reader->fd, dst, wanted);

        if (got < 0) {
            assert_int_equal(errno, EAGAIN);
            break;
        }
        reader->at_end = got == 0;
        assert_true(reader->seen_bytes + (size_t)got <= hose->stream_bytes);
        if (got > 0)
            assert_memory_equal(dst, hose->stream + reader->seen_bytes,
                                (size_t)got);
        reader->seen_bytes += (size_t)got;
        total += (size_t)got;
    }
    return total;
}

void hose_drink_all(struct hose *hose, uint32_t proc)
{
    do {
        hose_settle(hose);
    } while (hose_drink(hose, proc, SIZE_MAX) > 0);
}
