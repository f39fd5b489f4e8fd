/* Who has a stdin, and what tools push to it: it waits here until it goes on
 * its way, whatever becomes of the helper meanwhile. */
#include <stdio.h>
#include <sys/socket.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/host_impl.h"

/* Handed on in a turn of the loop. */
enum { TURN_PUSHES = 64 };

/* Of all processes with these numbers that there are. */
static void set_bits(struct px_host *host, struct topo_range range, uint8_t set,
                     uint8_t clear)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        uint32_t first = range.first > job->base ? range.first - job->base : 0;

        for (uint32_t rank = first;
             rank < job->size && job->base + rank <= range.last; rank++) {
            job->stdin_state[rank] &= (uint8_t)~clear;
            job->stdin_state[rank] |= set;
        }
    }
}

/* A helper that is started again must know whose stdin a tool has closed. */
static void note_closed(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        for (uint32_t rank = 0; rank < job->size; rank++) {
            if (job->stdin_state[rank] & PX_STDIN_NAMED)
                job->stdin_state[rank] &= (uint8_t)~PX_STDIN_OPEN;
        }
    }
}

static void note_sets(struct px_host *host, struct ov_push *push)
{
    if ((push->flags & OV_PUSH_NEW) != 0)
        set_bits(host, (struct topo_range){0, UINT32_MAX}, 0, PX_STDIN_NAMED);
    for (unsigned i = 0; i < push->ranges; i++)
        set_bits(host, ov_push_range(push), PX_STDIN_NAMED, 0);
    if ((push->flags & OV_PUSH_CLOSE) != 0)
        note_closed(host);
}

/* --- what waits here */

/* The helper is not to wait for us when it sends. Both ends have as much room;
 * the half of it that is told is for what the kernel adds. */
static uint32_t window_of(const struct px_host *host)
{
    int bytes = 0;
    socklen_t size = sizeof(bytes);

    if (getsockopt(host->fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) != 0 ||
        bytes / 2 < PX_PUSH_WINDOW_MIN)
        return PX_PUSH_WINDOW_MIN;
    return bytes / 2 < PX_PUSH_WINDOW_BYTES ? (uint32_t)bytes / 2
                                            : PX_PUSH_WINDOW_BYTES;
}

/* As much as there is always room for; not in crumbs. */
static void grant(struct px_host *host)
{
    uint32_t due = host->window_bytes - host->granted_bytes;
    bool is_due = due >= host->window_bytes / 4 &&
                  px_pushes_have_room(&host->pushes, host->window_bytes);

    host->grants_due = is_due ? due : 0;
    if (is_due)
        px_queue_soon(host);
}

static void say_lost(struct px_host *host)
{
    char text[128];

    if (host->pushes.lost_bytes == 0)
        return;
    snprintf(text, sizeof(text),
             "%llu bytes that tools have pushed cannot be read from their file "
             "again: they are lost",
             (unsigned long long)host->pushes.lost_bytes);
    host->pushes.lost_bytes = 0;
    host->cfg.events->on_say(host->cfg.arg, text);
}

/* The last pusher is left when all that it had is on its way. */
static void settle(struct px_host *host)
{
    if (!host->is_rest_due || !px_pushes_are_none(&host->pushes))
        return;
    host->is_rest_due = false;
    host->cfg.events->on_pushers(host->cfg.arg, false);
}

static bool hand_on_one(struct px_host *host)
{
    uint8_t mem[PX_PUSH_BYTES_MAX];
    uint32_t len_bytes;

    if (host->pushes_held >= PX_PUSHES_MAX)
        return false;
    len_bytes = px_pushes_get(&host->pushes, mem, host->cfg.push_bytes);
    if (len_bytes == 0)
        return false;
    host->pushes_held++;
    host->cfg.events->on_push(host->cfg.arg, mem, len_bytes);
    return true;
}

/* Where nobody takes it any more it goes at once: some, and then others have
 * their turn. */
static void hand_on(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct px_host *host = arg;
    unsigned count = 0;

    (void)fd;
    (void)what;
    host->is_handing_on = true;
    while (count < TURN_PUSHES && hand_on_one(host))
        count++;
    host->is_handing_on = false;
    if (count == TURN_PUSHES)
        event_add(host->pushes_turn, &at_once);
    say_lost(host);
    grant(host);
    settle(host);
}

static void hand_on_soon(struct px_host *host)
{
    if (!host->is_handing_on)
        event_active(host->pushes_turn, EV_TIMEOUT, 0);
}

int px_push_open(struct px_host *host)
{
    host->pushes_turn = evtimer_new(host->cfg.base, hand_on, host);
    return host->pushes_turn != NULL ? 0 : OV_ENOMEM;
}

void px_push_close(struct px_host *host)
{
    if (host->pushes_turn != NULL)
        event_free(host->pushes_turn);
    px_pushes_close(&host->pushes);
}

void px_push_begin(struct px_host *host)
{
    host->granted_bytes = 0;
    host->window_bytes = window_of(host);
    host->is_held_due = false;
    grant(host);
}

/* --- words */

int px_push_heard(struct px_host *host, const struct px_push *heard)
{
    uint32_t cost_bytes = px_push_cost(heard->len_bytes);
    struct ov_push push;

    if (ov_push_decode(heard->mem, heard->len_bytes, &push) ||
        heard->len_bytes > host->cfg.push_bytes ||
        cost_bytes > host->granted_bytes)
        return OV_EPROTO;
    host->granted_bytes -= cost_bytes;
    note_sets(host, &push);
    px_pushes_put(&host->pushes, heard->mem, heard->len_bytes, px_folder_top());
    grant(host);
    hand_on_soon(host);
    return 0;
}

void px_push_hold(struct px_host *host, bool are_there)
{
    host->is_held_due = are_there;
    host->is_rest_due = !are_there;
    if (are_there)
        host->cfg.events->on_pushers(host->cfg.arg, true);
    settle(host);
    px_queue_soon(host);
}

void px_host_pushed(struct px_host *host)
{
    host->pushes_held--;
    hand_on_soon(host);
}

void px_host_stdin(struct px_host *host, uint32_t first, uint32_t last,
                   bool is_open)
{
    struct px_host_job *job = px_job_of(host, first);

    set_bits(host, (struct topo_range){first, last},
             is_open ? PX_STDIN_OPEN : 0, is_open ? 0 : PX_STDIN_OPEN);
    if (job != NULL && job->stdin_told > first - job->base)
        job->stdin_told = first - job->base;
    px_queue_wake(host);
}
