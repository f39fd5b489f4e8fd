/* What of the pulls goes to their tools, and when. */
#include <poll.h>

#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/tools.h"

enum {
    HOLD_MS = 100,         /* for a library that takes nothing meanwhile */
    SPAN_MS = 1000,        /* of which tools that take nothing have so much, */
    FULL_MS = 100,         /* all together: they may wait for a processor */
    HOLD_BYTES = 16 << 20, /* a tool with more before it is slow */
    /* What may come at once. */
    PACKET_BYTES = 4 * (PX_OUTPUT_BYTES_MAX + LAG_MESSAGE_BYTES),
};

static struct {
    uint32_t turn; /* who is served first */
    bool is_flushing;
    /* Held for tools that take nothing: since when that is counted, for so
     * long, and the last look, 0: it was not held for them. */
    uint64_t span_ms, full_ms, looked_ms;
} serve;

static bool is_served(const struct pull *pull)
{
    return pull->state == PULL_KNOWN && !pull->is_doubted;
}

/* False when its socket takes nothing: it is then in the list (NULL: none is
 * asked for), unless its tool is dead, which the library will say. */
static bool takes(const struct pull *pull, struct pollfd *stuck,
                  unsigned *count)
{
    struct pollfd sock = {.fd = pull->to.sock.fd, .events = POLLOUT};

    if (pull->to.sock.fd < 0)
        return true;
    if (poll(&sock, 1, 0) != 0)
        return (sock.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
    if (stuck == NULL)
        return false;
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
    uint32_t room = px_lag_room(pull->to.tool, pull->to.sock.fd, now_ms);

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

/* Nothing is to be done to it, and nothing of it waits. */
static bool can_pass(const struct pull *pull)
{
    const struct px_queue *queue = &pull->queue;

    return is_served(pull) && pull->to.sock.fd >= 0 && pull->show == NULL &&
           queue->cfg.buffer_bytes == 0 && !queue->cfg.has_lines &&
           !queue->has_dropped && px_queue_is_idle(queue) &&
           px_queue_bytes(queue) == 0;
}

bool px_serve_pass(struct pull *pull, const struct px_output *output,
                   uint64_t now_ms)
{
    uint32_t batch = px_deliver_batch();
    uint64_t passed;

    if (!px_deliver_is_open() || !can_pass(pull))
        return false;
    if (pull->batch != batch)
        pull->room = room_of(pull, now_ms, NULL, NULL);
    pull->batch = batch;
    passed = px_deliver_passed(pull->to.tool);
    if (pull->room <= passed || !px_deliver_pass(output, &pull->to))
        return false;
    passed += output->len_bytes + LAG_MESSAGE_BYTES;
    if (pull->room <= passed + PACKET_BYTES)
        px_deliver_enough();
    pull->given_ms = now_ms;
    note_end(pull, output);
    return true;
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
        serve.turn = (serve.turn + i + 1) % PULLS_MAX;
        bytes = 0;
    }
    px_pulls_unlock();
    return count;
}

/* The library has some of it that it has not taken. */
static bool is_passing(const struct pull *pull)
{
    return px_deliver_borrows() && pull->batch == px_deliver_batch() &&
           px_deliver_asked() > 0;
}

/* More of it would be copied, or go through the file soon, and the library has
 * not stood still. */
static bool may_hold(const struct pull *pull, uint64_t now_ms)
{
    return is_served(pull) && pull->live != NULL && pull->to.sock.fd >= 0 &&
           (is_passing(pull) || px_spool_is_filling(&pull->queue.spool)) &&
           px_queue_bytes(&pull->queue) < HOLD_BYTES &&
           now_ms - pull->given_ms < HOLD_MS;
}

/* Counts the time until now, if it was held for such. */
static void count_full(uint64_t now_ms)
{
    if (now_ms - serve.span_ms >= SPAN_MS) {
        serve.span_ms = now_ms;
        serve.full_ms = 0;
    }
    if (serve.looked_ms != 0)
        serve.full_ms += now_ms - serve.looked_ms;
    serve.looked_ms = 0;
}

/* Where all their sockets are full there may be room soon: a tool that reads
 * does not have a processor all the time. */
bool px_pulls_hold(uint64_t now_ms)
{
    const struct pull *pulls = px_pulls_lock();
    bool is_held = false, is_full = false;

    for (unsigned i = 0; i < PULLS_MAX && !is_held; i++) {
        struct pollfd sock = {.fd = pulls[i].to.sock.fd, .events = POLLOUT};

        if (!may_hold(&pulls[i], now_ms))
            continue;
        is_full |= poll(&sock, 1, 0) == 0;
        is_held = (sock.revents & POLLOUT) != 0;
    }
    count_full(now_ms);
    if (!is_held && is_full && serve.full_ms < FULL_MS) {
        is_held = true;
        serve.looked_ms = now_ms;
    }
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
