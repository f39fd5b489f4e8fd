/* The output channel under test, see channel_tap.h. */
#include "config.h"

#include "tests/unit/channel_tap.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/sys/writer.h"
#include "tests/unit/rig.h"

static void on_ready(void *arg, struct ep_channel *ch)
{
    struct tap *tap = arg;

    assert_ptr_equal(ch, tap->ch);
    tap->ready++;
    if (tap->close_when_ready) {
        ep_channel_close(ch);
        tap->ch = NULL;
    }
}

static void on_ballast(void *arg)
{
    (void)arg;
}

static int setup_at(void **state, const char *dir)
{
    struct tap *tap = calloc(1, sizeof(*tap));
    struct ep_tails_cfg cfg = {.dir = dir, .bytes = EP_CHUNK_BYTES};

    assert_non_null(tap);
    tap->base = event_base_new();
    tap->disk = event_base_new();
    tap->dst = malloc(TAP_ROOM * 4);
    tap->out = -1;
    assert_non_null(tap->base);
    assert_non_null(tap->disk);
    assert_int_equal(ep_writer_open(tap->disk, &tap->writer), 0);
    cfg.writer = tap->writer;
    assert_int_equal(ep_tails_open(&cfg, &tap->tails), 0);
    tap->ballast.on_change = on_ballast;
    assert_non_null(tap->dst);
    *state = tap;
    return 0;
}

int tap_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");

    return setup_at(state, tmp != NULL ? tmp : "/var/tmp");
}

int tap_setup_nowhere(void **state)
{
    return setup_at(state, "/nonexistent/folder");
}

int tap_teardown(void **state)
{
    struct tap *tap = *state;

    ep_channel_close(tap->ch);
    if (tap->out >= 0)
        close(tap->out);
    ep_tail_drop(tap->tails, &tap->ballast);
    ep_tails_close(tap->tails);
    ep_writer_close(tap->writer, true);
    event_base_free(tap->base);
    event_base_free(tap->disk);
    free(tap->seen);
    free(tap->dst);
    free(tap);
    return 0;
}

void tap_open(struct tap *tap, bool raw, uint32_t open_ms)
{
    int fds[2];
    struct ep_channel_cfg cfg = {
        .base = tap->base,
        .tails = tap->tails,
        .raw = raw,
        .open_ms = open_ms,
        .on_ready = on_ready,
        .arg = tap,
    };

    ep_channel_close(tap->ch);
    if (tap->out >= 0)
        close(tap->out);
    rig_wide_pipe(fds);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    tap->out = fds[1];
    cfg.fd = fds[0];
    tap->in = fds[0];
    assert_int_equal(ep_channel_open(&cfg, &tap->ch), 0);
    tap->seen_bytes = 0;
    tap->ready = 0;
}

void tap_load(struct tap *tap)
{
    static const uint8_t mem[EP_TAIL_BYTES_MAX];

    ep_tail_drop(tap->tails, &tap->ballast);
    if (ep_tails_room(tap->tails, &tap->ballast) != EP_TAILS_ROOM)
        return;
    assert_true(ep_tail_add(tap->tails, &tap->ballast, mem, sizeof(mem)));
}

void tap_put(struct tap *tap, const void *bytes, size_t len)
{
    assert_int_equal(write(tap->out, bytes, len), (ssize_t)len);
}

void tap_put_text(struct tap *tap, const char *text)
{
    tap_put(tap, text, strlen(text));
}

void tap_put_end(struct tap *tap)
{
    close(tap->out);
    tap->out = -1;
}

uint32_t tap_pull(struct tap *tap, uint32_t room, enum ep_channel_state *state)
{
    uint32_t got;

    assert_int_equal(ep_channel_read(tap->ch, tap->dst, room, &got, state), 0);
    assert_true(got <= room);
    if (tap->seen_bytes + got > tap->seen_room) {
        tap->seen_room = (tap->seen_bytes + got) * 2;
        tap->seen = realloc(tap->seen, tap->seen_room);
        assert_non_null(tap->seen);
    }
    if (got > 0)
        memcpy(tap->seen + tap->seen_bytes, tap->dst, got);
    tap->seen_bytes += got;
    return got;
}

void tap_expect(struct tap *tap, uint32_t room, const char *text,
                enum ep_channel_state wanted)
{
    enum ep_channel_state state;

    tap->seen_bytes = 0;
    do {
        tap_pull(tap, room, &state);
    } while (state == EP_CHANNEL_MORE);
    assert_int_equal(tap->seen_bytes, strlen(text));
    assert_memory_equal(tap->seen, text, tap->seen_bytes);
    assert_int_equal(state, wanted);
}

void tap_turn(struct tap *tap)
{
    event_base_loop(tap->disk, EVLOOP_NONBLOCK);
    event_base_loop(tap->base, EVLOOP_NONBLOCK);
}
