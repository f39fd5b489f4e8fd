/* What of the pulls goes to their tools, and when. */
#include <poll.h>

#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/tools.h"

enum {
    HOLD_MS = 100,         /* for a library that takes nothing meanwhile */
    HOLD_BYTES = 16 << 20, /* a tool with more before it is slow */
};

static struct {
    uint32_t turn; /* who is served first */
    bool is_flushing;
} serve;

static bool is_served(const struct pull *pull)
{
    return pull->state == PULL_KNOWN && !pull->is_held && !pull->is_doubted;
}

/* False when its socket takes nothing: it is then in the list, unless its tool
 * is dead, which the library will say. */
static bool takes(const struct pull *pull, struct pollfd *stuck,
                  unsigned *count)
{
    struct pollfd sock = {.fd = pull->to.fd, .events = POLLOUT};

    if (pull->to.fd < 0)
        return true;
    if (poll(&sock, 1, 0) != 0)
        return (sock.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
    for (unsigned i = 0; i < *count; i++) {
        if (stuck[i].fd == sock.fd)
            return false;
    }
    if (*count < TOOLS_MAX)
        stuck[(*count)++] = (struct pollfd){.fd = sock.fd, .events = POLLOUT};
    return false;
}

/* How much it can be given now. */
static uint32_t room_of(const struct pull *pull, uint64_t now_ms,
                        struct pollfd *stuck, unsigned *count)
{
    uint32_t room = px_lag_room(pull->to.tool, pull->to.fd, now_ms);

    return room > 0 && takes(pull, stuck, count) ? room : 0;
}

static bool has_something(const struct pull *pull, uint64_t now_ms)
{
    uint64_t due;

    if (!is_served(pull) || pull->live == NULL)
        return false;
    if (!px_queue_is_idle(&pull->queue) ||
        (serve.is_flushing && px_queue_bytes(&pull->queue) > 0))
        return true;
    due = px_queue_due_ms(&pull->queue);
    return due != 0 && due <= now_ms;
}

static void check_room(struct pull *pull)
{
    if (!pull->is_full || px_queue_bytes(&pull->queue) > PULL_ROOM_BYTES ||
        px_queue_is_tight(&pull->queue))
        return;
    pull->is_full = false;
    px_talk(&(struct px_msg){.kind = PX_FULL, .id = pull->id});
}

static uint32_t less(uint32_t from, uint32_t bytes)
{
    return from > bytes ? from - bytes : 0;
}

/* Each once. */
static void note_end(struct pull *pull, const struct px_output *o)
{
    uint8_t *wanted = &pull->wanted[o->rank - pull->first];
    uint8_t bit = (uint8_t)(1u << o->channel);

    if (!o->is_end || (*wanted & bit) == 0)
        return;
    *wanted &= (uint8_t)~bit;
    pull->open--;
}

static void give_some(struct pull *pull, uint64_t now_ms, uint32_t bytes,
                      uint32_t room, const struct px_pulls_taker *taker)
{
    struct px_output o;

    while (bytes > 0 && room > 0 &&
           px_queue_get(&pull->queue, now_ms, serve.is_flushing, taker->room(),
                        &o)) {
        taker->give(&o, &pull->to);
        note_end(pull, &o);
        bytes = less(bytes, o.len_bytes + PULLS_MESSAGE_BYTES);
        room = less(room, o.len_bytes + LAG_MESSAGE_BYTES);
    }
    pull->given_ms = now_ms;
}

unsigned px_pulls_take(uint64_t now_ms, uint32_t bytes,
                       const struct px_pulls_taker *taker, struct pollfd *stuck)
{
    struct pull *pulls = px_pulls_lock();
    unsigned count = 0;

    for (unsigned i = 0; i < PULLS_MAX && bytes > 0; i++) {
        struct pull *pull = &pulls[(serve.turn + i) % PULLS_MAX];
        uint32_t room = has_something(pull, now_ms)
                            ? room_of(pull, now_ms, stuck, &count)
                            : 0;

        if (room == 0)
            continue;
        give_some(pull, now_ms, bytes, room, taker);
        check_room(pull);
        serve.turn = (serve.turn + i + 1) % PULLS_MAX;
        bytes = 0;
    }
    px_pulls_unlock();
    return count;
}

/* More of it would go through the file soon, and its tool takes what it is
 * given: the library alone is behind. */
static bool holds(const struct pull *pull, uint64_t now_ms)
{
    struct pollfd sock = {.fd = pull->to.fd, .events = POLLOUT};

    return is_served(pull) && pull->live != NULL && pull->to.fd >= 0 &&
           px_spool_is_filling(&pull->queue.spool) &&
           px_queue_bytes(&pull->queue) < HOLD_BYTES &&
           now_ms - pull->given_ms < HOLD_MS && poll(&sock, 1, 0) == 1 &&
           (sock.revents & POLLOUT) != 0;
}

bool px_pulls_hold(uint64_t now_ms)
{
    const struct pull *pulls = px_pulls_lock();
    bool is_held = false;

    for (unsigned i = 0; i < PULLS_MAX && !is_held; i++)
        is_held = holds(&pulls[i], now_ms);
    px_pulls_unlock();
    return is_held;
}

uint64_t px_pulls_left_bytes(void)
{
    struct pull *pulls = px_pulls_lock();
    uint64_t sum = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (is_served(&pulls[i]) && pulls[i].live != NULL)
            sum += px_queue_bytes(&pulls[i].queue) +
                   (px_queue_is_idle(&pulls[i].queue) ? 0 : 1);
    }
    px_pulls_unlock();
    return sum;
}

uint64_t px_pulls_due_ms(void)
{
    const struct pull *pulls = px_pulls_lock();
    uint64_t due = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        const struct pull *pull = &pulls[i];
        uint64_t its = is_served(pull) ? px_queue_due_ms(&pull->queue) : 0;
        uint64_t lag = is_served(pull) && !px_queue_is_idle(&pull->queue)
                           ? px_lag_due_ms(pull->to.tool)
                           : 0;

        if (its != 0 && (due == 0 || its < due))
            due = its;
        if (lag != 0 && (due == 0 || lag < due))
            due = lag;
    }
    px_pulls_unlock();
    return due;
}

void px_pulls_flush(void)
{
    px_pulls_lock();
    serve.is_flushing = true;
    px_pulls_unlock();
}
