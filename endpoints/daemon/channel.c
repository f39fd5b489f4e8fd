/* Reads a process's output, in lines or raw.
 *
 * New bytes are read into the caller's memory, at a distance from its beginning
 * that leaves room for the carry. The carry is copied into that room only when
 * it is known that it is given now: a line that grows byte by byte costs no
 * more than its bytes.
 *
 * When a part of the carry is in the file, new bytes are added to the carry in
 * memory until a part of it must be given. Then the bytes in the file have to
 * be read back first.
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

struct ep_channel {
    struct ep_channel_cfg cfg;
    struct event *readable; /* owned */
    struct event *aged;     /* owned; NULL when open_ms is 0 */
    struct ep_tail carry;   /* the unfinished line */
    int64_t open_since_ms;  /* when its first byte came */
    uint64_t lost_bytes; /* bytes that could not be read back from the file */
    uint32_t left_bytes; /* while is_expiring: bytes that may still be read */
    bool is_expiring;
    /* on_ready will be called when there is something to read. */
    bool is_armed;
    bool is_registered; /* the event is added to the loop */
    bool at_end;        /* the descriptor has reached its end */
    bool flush_open;
    bool is_due; /* a part of a carry that is in the file must be given */
    /* the unfinished line is given in pieces, as there is no room */
    bool is_cut;
    int err;      /* errno of a failed read of the descriptor */
    int lost_err; /* errno of the last failed read of the file */
    bool *closed; /* borrowed: set to true when a callback closes the channel */
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

/* Calls on_ready. The owner usually answers with a read that drains the
 * channel, so the event is removed from the loop only if the owner has not
 * read. */
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

/* Reports an unfinished line that has become old. The timer is not stopped when
 * its line ends, so the line it finds may be another one, or there may be
 * none. */
static void on_aged(evutil_socket_t fd, short what, void *arg)
{
    struct ep_channel *ch = arg;

    (void)fd;
    (void)what;
    if (!ch->is_armed || ep_tail_bytes(&ch->carry) == 0)
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
        /* A needless call of on_ready is better than a channel that is never
         * read. */
        if (event_add(ch->readable, NULL) != 0)
            event_active(ch->readable, EV_READ, 0);
    }
    if (ch->aged != NULL && ep_tail_bytes(&ch->carry) > 0 &&
        !evtimer_pending(ch->aged, NULL))
        aged_start(ch);
}

/* Called by ep_tails when the carry need no longer wait. */
static void on_carry(void *arg)
{
    struct ep_channel *ch = arg;

    event_active(ch->readable, EV_READ, 0);
}

int ep_channel_open(const struct ep_channel_cfg *cfg, struct ep_channel **out)
{
    struct ep_channel *ch = calloc(1, sizeof(*ch));
    int flags = fcntl(cfg->fd, F_GETFL);
    int rc = OV_ENOMEM;

    if (ch == NULL)
        return OV_ENOMEM;
    ch->cfg = *cfg;
    ch->carry.on_change = on_carry;
    ch->carry.arg = ch;
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
    if (!ch->cfg.raw)
        ep_tail_drop(ch->cfg.tails, &ch->carry);
    if (ch->readable != NULL)
        event_free(ch->readable);
    if (ch->aged != NULL)
        event_free(ch->aged);
    if (ch->cfg.fd >= 0)
        close(ch->cfg.fd);
    free(ch);
}

/* Reads what fits. Returns the number of bytes; 0: the pipe is empty for now
 * or, with at_end set, has ended. */
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
    /* The master of a terminal fails with EIO when no process has the other
     * side open. */
    if (count < 0 && errno != EAGAIN && errno != EIO)
        ch->err = errno;
    return 0;
}

/* Adds bytes to the carry. Returns false when there is no room for them;
 * nothing is changed then. */
static bool carry_append(struct ep_channel *ch, const uint8_t *src,
                         uint32_t len_bytes)
{
    uint32_t carried;

    if (len_bytes == 0)
        return true;
    carried = ep_tail_bytes(&ch->carry);
    OV_ASSERT(carried + len_bytes <= EP_CHANNEL_CARRY_MAX);
    if (!ep_tail_add(ch->cfg.tails, &ch->carry, src, len_bytes))
        return false;
    if (carried == 0 && ch->aged != NULL)
        ch->open_since_ms = now_ms();
    return true;
}

/* Moves the first len_bytes of the carry to dst. */
static void carry_take(struct ep_channel *ch, uint8_t *dst, uint32_t len_bytes)
{
    if (len_bytes > 0)
        ep_tail_take(ch->cfg.tails, &ch->carry, dst, len_bytes);
}

/* Notes that a line is given in pieces although it is not too long. */
static void cut(struct ep_channel *ch)
{
    if (!ch->is_cut)
        ep_tails_count_cut(ch->cfg.tails);
    ch->is_cut = true;
}

/* The result of one read into the caller's memory. */
struct round {
    uint32_t used_bytes;  /* bytes of the carry and of the read together */
    uint32_t lines_bytes; /* how many of these are whole lines */
    bool is_drained;
};

enum lines_end {
    LINES_MORE,
    LINES_DRAINED,
    LINES_WAIT, /* on_carry() tells when to continue */
};

/* Reads new bytes after the room for the carry, so that both fit into `room`.
 * After a short read the pipe is empty; another read would only cost time, as
 * the loop reports when there are more bytes. */
static struct round lines_pull(struct ep_channel *ch, uint8_t *dst,
                               uint32_t room)
{
    struct round round = {.used_bytes = ep_tail_bytes(&ch->carry)};

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

/* The length up to which lines are given whole. */
static uint32_t carry_limit(uint32_t room)
{
    return room < EP_CHANNEL_CARRY_MAX ? room : EP_CHANNEL_CARRY_MAX;
}

/* Decides which bytes are given now and keeps the rest as the carry. Returns
 * the number of bytes at dst. */
static uint32_t lines_settle(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                             const struct round *round)
{
    uint32_t carried = ep_tail_bytes(&ch->carry);
    uint32_t out = round->lines_bytes;
    uint32_t tail = round->used_bytes - out;

    if (out > 0)
        ch->is_cut = false;
    if (ch->at_end || tail >= carry_limit(room) || (ch->flush_open && out == 0))
        out = round->used_bytes;
    if (out == 0 &&
        carry_append(ch, dst + carried, round->used_bytes - carried))
        return 0;
    /* Bytes are given, and first of all the whole carry. When there is no room
     * for a new carry, all bytes are given. */
    carry_take(ch, dst, carried);
    if (out == 0 || !carry_append(ch, dst + out, round->used_bytes - out)) {
        cut(ch);
        out = round->used_bytes;
    }
    return out;
}

/* Adds new bytes to a carry that is partly in the file, and sets is_due when
 * bytes must be given. Returns true when the pipe is empty. */
static bool filed_grow(struct ep_channel *ch, uint8_t *dst, uint32_t room)
{
    uint32_t carried = ep_tail_bytes(&ch->carry), limit = carry_limit(room);
    struct round round = lines_pull(ch, dst, limit);
    bool is_kept = carry_append(ch, dst + carried, round.used_bytes - carried);

    OV_ASSERT(is_kept); /* ep_tails_room has said that there is room */
    ch->is_due = ch->at_end || round.lines_bytes > 0 ||
                 round.used_bytes >= limit || ch->flush_open;
    return round.is_drained;
}

/* Gives the bytes that must be given of a carry in the file, after these were
 * read back. */
static enum lines_end filed_give(struct ep_channel *ch, uint8_t *dst,
                                 uint32_t room, uint32_t *got)
{
    struct round round = {0};
    uint32_t lost;
    const uint8_t *newline;
    int rc = ep_tail_fetch(ch->cfg.tails, &ch->carry, &lost);

    if (rc == OV_EAGAIN)
        return LINES_WAIT;
    if (rc != 0)
        ch->lost_err = errno;
    ch->lost_bytes += lost;
    /* Bytes after the line must have room, too. */
    if (ep_tails_room(ch->cfg.tails, &ch->carry) == EP_TAILS_WAIT)
        return LINES_WAIT;
    round.used_bytes = ep_tail_bytes(&ch->carry);
    if (round.used_bytes > room) {
        carry_take(ch, dst, room); /* dst has room only for a piece */
        *got = room;
        return LINES_MORE;
    }
    carry_take(ch, dst, round.used_bytes);
    newline = memrchr(dst, '\n', round.used_bytes);
    if (newline != NULL)
        round.lines_bytes = (uint32_t)(newline - dst) + 1;
    *got = lines_settle(ch, dst, room, &round);
    ch->is_due = false;
    ch->flush_open = false;
    return LINES_MORE;
}

static enum lines_end filed_read(struct ep_channel *ch, uint8_t *dst,
                                 uint32_t room, uint32_t *got)
{
    if (!ch->is_due) {
        bool is_drained;

        switch (ep_tails_room(ch->cfg.tails, &ch->carry)) {
        case EP_TAILS_WAIT:
            return LINES_WAIT;
        case EP_TAILS_ROOM:
            is_drained = filed_grow(ch, dst, room);
            if (!ch->is_due)
                return is_drained ? LINES_DRAINED : LINES_MORE;
            break;
        case EP_TAILS_FULL:
            cut(ch);
            ch->flush_open = true;
            ch->is_due = true;
            break;
        }
    }
    return filed_give(ch, dst, room, got);
}

static enum lines_end lines_read(struct ep_channel *ch, uint8_t *dst,
                                 uint32_t room, uint32_t *got)
{
    struct round round;

    *got = 0;
    if (ch->is_due || !ep_tail_is_in_memory(&ch->carry))
        return filed_read(ch, dst, room, got);
    /* dst has room only for a piece. */
    if (ep_tail_bytes(&ch->carry) >= room) {
        carry_take(ch, dst, room);
        *got = room;
        return LINES_MORE;
    }
    if (ep_tails_room(ch->cfg.tails, &ch->carry) == EP_TAILS_WAIT)
        return LINES_WAIT;
    round = lines_pull(ch, dst, room);
    *got = lines_settle(ch, dst, room, &round);
    if (*got > 0 || round.is_drained)
        ch->flush_open = false;
    return round.is_drained ? LINES_DRAINED : LINES_MORE;
}

static enum lines_end raw_read(struct ep_channel *ch, uint8_t *dst,
                               uint32_t room, uint32_t *got)
{
    *got = pull(ch, dst, room);
    return *got < room ? LINES_DRAINED : LINES_MORE;
}

int ep_channel_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state)
{
    enum lines_end end;

    OV_ASSERT(room > 0);
    end = ch->cfg.raw ? raw_read(ch, dst, room, got)
                      : lines_read(ch, dst, room, got);
    if (ch->at_end && ep_tail_bytes(&ch->carry) == 0) {
        disarm(ch);
        *state = EP_CHANNEL_END;
        errno = ch->err;
        return ch->err != 0 ? OV_ESYS : 0;
    }
    if (end == LINES_DRAINED && !ch->at_end) {
        arm(ch);
        *state = EP_CHANNEL_IDLE;
        return 0;
    }
    ch->is_armed = false;
    /* Within on_ready the event may stay: ready() removes it if necessary. */
    if (ch->closed == NULL)
        disarm(ch);
    *state = end == LINES_WAIT ? EP_CHANNEL_IDLE : EP_CHANNEL_MORE;
    return 0;
}

void ep_channel_wait(struct ep_channel *ch)
{
    arm(ch);
    /* The pipe does not report that its last line ends, nor what the file has
     * of it. */
    if (ch->at_end || ch->is_due)
        event_active(ch->readable, EV_READ, 0);
}

void ep_channel_rest(struct ep_channel *ch)
{
    if (!ch->cfg.raw)
        ep_tail_rest(ch->cfg.tails, &ch->carry);
}

uint64_t ep_channel_lost(struct ep_channel *ch, int *err)
{
    uint64_t lost_bytes = ch->lost_bytes;

    *err = ch->lost_err;
    ch->lost_bytes = 0;
    return lost_bytes;
}

uint32_t ep_channel_unread(const struct ep_channel *ch)
{
    int bytes = 0;

    if (ioctl(ch->cfg.fd, FIONREAD, &bytes) != 0 || bytes < 0)
        bytes = 0;
    return (uint32_t)bytes;
}

void ep_channel_expire(struct ep_channel *ch)
{
    if (ch->is_expiring)
        return;
    ch->is_expiring = true;
    ch->left_bytes = ep_channel_unread(ch);
    if (ch->is_armed)
        event_active(ch->readable, EV_READ, 0);
}
