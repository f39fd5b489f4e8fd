/* Reading a process's output, in lines or raw.
 *
 * New bytes are read into the caller's memory behind the place where the
 * carry belongs, and the carry is copied before them only once it is known
 * to go out: a line that grows byte by byte costs no more than its bytes.
 */
#include "config.h"

#include "endpoints/daemon/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    CARRY_MIN = 512,
    CARRY_KEPT = 4096, /* a larger carry is freed when it is empty */
};

struct ep_channel {
    struct ep_channel_cfg cfg;
    struct event *readable; /* owned */
    struct event *aged;     /* owned, NULL without open_ms */
    uint8_t *carry;         /* owned, an open line, or NULL */
    uint32_t carry_bytes;
    uint32_t carry_room;
    int64_t open_since_ms; /* arrival of the open line's first byte */
    uint32_t left_bytes;   /* while is_expiring: what may still be read */
    bool is_expiring;
    bool is_armed;      /* on_ready is due when readable */
    bool is_registered; /* the event is pending in the loop */
    bool at_end;        /* nothing more comes from the descriptor */
    bool flush_open;
    int err;      /* errno of a failed descriptor */
    bool *closed; /* borrowed: set when closed during a callback */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void disarm(struct ep_channel *ch)
{
    ch->is_armed = false;
    if (ch->is_registered)
        event_del(ch->readable);
    ch->is_registered = false;
}

/* The owner's answer is as a rule a read that drains the channel, so the
 * event leaves the loop only when that has not happened. */
static void ready(struct ep_channel *ch)
{
    bool closed = false;

    ch->is_armed = false;
    ch->closed = &closed;
    ch->cfg.on_ready(ch->cfg.arg, ch);
    if (closed)
        return;
    ch->closed = NULL;
    if (!ch->is_armed)
        disarm(ch);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ready(arg);
}

static void aged_start(struct ep_channel *ch)
{
    int64_t wait_ms = ch->open_since_ms + ch->cfg.open_ms - now_ms();
    struct timeval wait;

    if (wait_ms < 0)
        wait_ms = 0;
    wait.tv_sec = (time_t)(wait_ms / 1000);
    wait.tv_usec = (suseconds_t)(wait_ms % 1000 * 1000);
    event_add(ch->aged, &wait);
}

/* The timer is started for an open line and not stopped with it, so what it
 * finds may be another line, or none. */
static void on_aged(evutil_socket_t fd, short what, void *arg)
{
    struct ep_channel *ch = arg;

    (void)fd;
    (void)what;
    if (!ch->is_armed || ch->carry_bytes == 0)
        return;
    if (now_ms() < ch->open_since_ms + ch->cfg.open_ms) {
        aged_start(ch);
        return;
    }
    ch->flush_open = true;
    ready(ch);
}

static void arm(struct ep_channel *ch)
{
    ch->is_armed = true;
    if (!ch->is_registered) {
        ch->is_registered = true;
        /* Better a turn too many than a channel nobody hears of again. */
        if (event_add(ch->readable, NULL) != 0)
            event_active(ch->readable, EV_READ, 0);
    }
    if (ch->aged != NULL && ch->carry_bytes > 0 &&
        !evtimer_pending(ch->aged, NULL))
        aged_start(ch);
}

int ep_channel_open(const struct ep_channel_cfg *cfg, struct ep_channel **out)
{
    struct ep_channel *ch = calloc(1, sizeof(*ch));
    int flags = fcntl(cfg->fd, F_GETFL);
    int rc = OV_ENOMEM;

    if (ch == NULL)
        return OV_ENOMEM;
    ch->cfg = *cfg;
    ch->readable =
        event_new(cfg->base, cfg->fd, EV_READ | EV_PERSIST, on_readable, ch);
    if (ch->readable == NULL)
        goto fail;
    if (cfg->open_ms > 0 && !cfg->raw) {
        ch->aged = evtimer_new(cfg->base, on_aged, ch);
        if (ch->aged == NULL)
            goto fail;
    }
    rc = OV_ESYS;
    if (flags < 0 || fcntl(cfg->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        event_add(ch->readable, NULL) != 0)
        goto fail;
    ch->is_registered = true;
    ch->is_armed = true;
    *out = ch;
    return 0;

fail:
    ch->cfg.fd = -1;
    ep_channel_close(ch);
    return rc;
}

void ep_channel_close(struct ep_channel *ch)
{
    if (ch == NULL)
        return;
    if (ch->closed != NULL)
        *ch->closed = true;
    if (ch->readable != NULL)
        event_free(ch->readable);
    if (ch->aged != NULL)
        event_free(ch->aged);
    if (ch->cfg.fd >= 0)
        close(ch->cfg.fd);
    free(ch->carry);
    free(ch);
}

/* Reads what fits. Returns the count; 0 means drained, for now or, with
 * at_end set, for good. */
static uint32_t pull(struct ep_channel *ch, uint8_t *dst, uint32_t room)
{
    uint32_t wanted = room;
    ssize_t count;

    if (ch->is_expiring && wanted > ch->left_bytes)
        wanted = ch->left_bytes;
    if (wanted == 0 || ch->at_end) {
        ch->at_end = true;
        return 0;
    }
    do {
        count = read(ch->cfg.fd, dst, wanted);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        if (ch->is_expiring)
            ch->left_bytes -= (uint32_t)count;
        if (ch->is_expiring && ch->left_bytes == 0)
            ch->at_end = true;
        return (uint32_t)count;
    }
    if (count == 0 || errno != EAGAIN || ch->is_expiring)
        ch->at_end = true;
    /* A terminal's master says EIO when nobody holds the other side. */
    if (count < 0 && errno != EAGAIN && errno != EIO)
        ch->err = errno;
    return 0;
}

static void carry_trim(struct ep_channel *ch)
{
    if (ch->carry_bytes > 0 || ch->carry_room <= CARRY_KEPT)
        return;
    free(ch->carry);
    ch->carry = NULL;
    ch->carry_room = 0;
}

/* Adds to the carry. False when memory is out; nothing is changed then. */
static bool carry_append(struct ep_channel *ch, const uint8_t *src,
                         uint32_t len_bytes)
{
    uint32_t needed = ch->carry_bytes + len_bytes;

    OV_ASSERT(needed <= EP_CHANNEL_CARRY_MAX);
    if (len_bytes == 0)
        return true;
    if (needed > ch->carry_room) {
        uint32_t room = ch->carry_room > 0 ? ch->carry_room : CARRY_MIN;
        uint8_t *carry;

        while (room < needed)
            room *= 2;
        carry = realloc(ch->carry, room);
        if (carry == NULL)
            return false;
        ch->carry = carry;
        ch->carry_room = room;
    }
    if (ch->carry_bytes == 0 && ch->aged != NULL)
        ch->open_since_ms = now_ms();
    memcpy(ch->carry + ch->carry_bytes, src, len_bytes);
    ch->carry_bytes = needed;
    return true;
}

/* Moves the first len_bytes of the carry to dst. */
static void carry_take(struct ep_channel *ch, uint8_t *dst, uint32_t len_bytes)
{
    if (len_bytes == 0)
        return;
    memcpy(dst, ch->carry, len_bytes);
    ch->carry_bytes -= len_bytes;
    memmove(ch->carry, ch->carry + len_bytes, ch->carry_bytes);
}

/* How a round of reading into the caller's memory went. */
struct round {
    uint32_t used_bytes;  /* carry and what was read */
    uint32_t lines_bytes; /* of these, up to the last newline */
    bool is_drained;
};

/* Reads behind the place of the carry. A short read means that the pipe was
 * empty: asking again would only cost, the loop tells when there is more. */
static struct round lines_pull(struct ep_channel *ch, uint8_t *dst,
                               uint32_t room)
{
    struct round round = {.used_bytes = ch->carry_bytes};

    while (round.used_bytes < room && !round.is_drained) {
        uint8_t *at = dst + round.used_bytes;
        uint32_t space = room - round.used_bytes;
        uint32_t count = pull(ch, at, space);
        const uint8_t *newline = memrchr(at, '\n', count);

        if (newline != NULL)
            round.lines_bytes = (uint32_t)(newline - dst) + 1;
        round.used_bytes += count;
        round.is_drained = count < space;
    }
    return round;
}

/* Decides what goes out, keeps the rest. Returns the bytes at dst. */
static uint32_t lines_settle(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                             const struct round *round)
{
    uint32_t carried = ch->carry_bytes;
    uint32_t out = round->lines_bytes;
    uint32_t tail = round->used_bytes - out;
    uint32_t limit = room < EP_CHANNEL_CARRY_MAX ? room : EP_CHANNEL_CARRY_MAX;

    if (ch->at_end || tail >= limit || (ch->flush_open && out == 0))
        out = round->used_bytes;
    if (out == 0 &&
        carry_append(ch, dst + carried, round->used_bytes - carried))
        return 0;
    /* Something goes out, so all that was carried does. Without memory for a
     * carry everything does. */
    carry_take(ch, dst, carried);
    if (out == 0 || !carry_append(ch, dst + out, round->used_bytes - out))
        out = round->used_bytes;
    return out;
}

static bool lines_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                       uint32_t *got)
{
    struct round round;

    if (ch->carry_bytes >= room) { /* room enough for a piece only */
        carry_take(ch, dst, room);
        *got = room;
        return false;
    }
    round = lines_pull(ch, dst, room);
    *got = lines_settle(ch, dst, room, &round);
    if (*got > 0 || round.is_drained)
        ch->flush_open = false;
    return round.is_drained;
}

static bool raw_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                     uint32_t *got)
{
    *got = pull(ch, dst, room);
    return *got < room;
}

int ep_channel_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state)
{
    bool is_drained;

    OV_ASSERT(room > 0);
    is_drained = ch->cfg.raw ? raw_read(ch, dst, room, got)
                             : lines_read(ch, dst, room, got);
    carry_trim(ch);
    if (ch->at_end && ch->carry_bytes == 0) {
        disarm(ch);
        *state = EP_CHANNEL_END;
        errno = ch->err;
        return ch->err != 0 ? OV_ESYS : 0;
    }
    if (is_drained && !ch->at_end) {
        arm(ch);
        *state = EP_CHANNEL_IDLE;
        return 0;
    }
    ch->is_armed = false;
    /* Within on_ready the event may stay: ready() looks after it. */
    if (ch->closed == NULL)
        disarm(ch);
    *state = EP_CHANNEL_MORE;
    return 0;
}

void ep_channel_wait(struct ep_channel *ch)
{
    arm(ch);
    if (ch->at_end) /* what is left of a line: the pipe says nothing of it */
        event_active(ch->readable, EV_READ, 0);
}

uint32_t ep_channel_open_bytes(const struct ep_channel *ch)
{
    return ch->carry_bytes;
}

void ep_channel_flush_open(struct ep_channel *ch)
{
    ch->flush_open = ch->carry_bytes > 0;
}

void ep_channel_expire(struct ep_channel *ch)
{
    int bytes = 0;

    if (ch->is_expiring)
        return;
    ch->is_expiring = true;
    if (ioctl(ch->cfg.fd, FIONREAD, &bytes) != 0 || bytes < 0)
        bytes = 0;
    ch->left_bytes = (uint32_t)bytes;
    if (ch->is_armed)
        event_active(ch->readable, EV_READ, 0);
}
