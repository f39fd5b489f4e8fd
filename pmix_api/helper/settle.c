/* How far the output is that was redirected. */
#include "pmix_api/helper/settle.h"

#include "pmix_api/helper/back.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/intake.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/sockets.h"

/* Between two looks, longer and longer while nothing moves. */
enum { WAIT_MS = 5, WAIT_MAX_MS = 1000 };

static struct {
    struct px_share *share;   /* borrowed */
    uint32_t told[PULLS_MAX]; /* the pulls whose state is told */
    uint64_t left_bytes;      /* at the last look, of all these */
    unsigned wait_ms;
} settle;

_Static_assert((int)PULLS_MAX == (int)PX_SHARE_SLOTS, "each has its slot");

void px_settle_open(struct px_share *share)
{
    settle.share = share;
}

bool px_settle_is_kept(void)
{
    return settle.share->head != NULL;
}

/* Bytes that the tool does not have: of the pull's, and others that are on the
 * way with them. */
struct left {
    uint64_t here, unsent, unread;
};

/* Looked up in the direction in which they move, so that none is missed. */
static uint64_t here(const struct pull *pull)
{
    uint64_t left = px_queue_span(&pull->queue);

    left += px_deliver_bytes();
    return left + px_lag_payload(pull->to.tool);
}

/* Nothing was written to it yet; or the library does not say what is. */
static bool is_untold(const struct pull *pull, struct left *out)
{
    if (px_pulls_are_many())
        out->here = px_pull_own_bytes(pull);
    return true;
}

/* False when the tool does not hold its socket any more: what was in it is
 * gone, and nobody knows what it has read. */
static bool look(const struct pull *pull, struct left *out)
{
    const struct px_socket *sock = &pull->to.sock;
    struct px_peer peer = {.unread_bytes = 0};

    *out = (struct left){.here = here(pull)};
    if (sock->fd < 0)
        return is_untold(pull, out);
    out->unsent = px_socket_unsent(sock);
    if (!px_socket_peer(sock, &peer))
        return false;
    out->unread = peer.unread_bytes;
    return true;
}

/* So many of the pull's bytes are not left. */
static uint64_t gone(const struct pull *pull, uint64_t left)
{
    uint64_t own = px_pull_own_bytes(pull);

    return own > left ? own - left : 0;
}

/* The position before which nothing is left, with so many bytes that are. */
static uint64_t see(const struct pull *pull, uint64_t left)
{
    return left == 0 ? px_intake_bytes()
                     : px_trail_see(&pull->trail, gone(pull, left));
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What it has not read it will not: should we die, that is to go back. But
 * where some has gone back already it is as with a tool that has it (back.h).
 */
static void step_dead(struct pull *pull, uint64_t here_bytes)
{
    pull->at.sent = pull->is_drained
                        ? most(pull->at.sent, see(pull, here_bytes))
                        : pull->at.read;
}

/* Returns what is left of it. */
static uint64_t step(struct pull *pull)
{
    struct left left;
    uint64_t unread;

    if (pull->is_forsaken)
        return 0;
    if (!look(pull, &left)) {
        step_dead(pull, left.here);
        return 0;
    }
    unread = left.here + left.unsent + left.unread;
    pull->at.sent = most(pull->at.sent, see(pull, left.here + left.unsent));
    pull->at.read = most(pull->at.read, see(pull, unread));
    px_trail_pass(&pull->trail, gone(pull, unread));
    return unread;
}

static unsigned next_ms(uint64_t left)
{
    bool is_same = left == settle.left_bytes;

    settle.left_bytes = left;
    if (left == 0)
        settle.wait_ms = 0;
    else if (!is_same)
        settle.wait_ms = WAIT_MS;
    else if (settle.wait_ms < WAIT_MAX_MS)
        settle.wait_ms *= 2;
    return settle.wait_ms;
}

unsigned px_settle_all(void)
{
    struct pull *pulls = px_pulls_lock();
    uint64_t sum = 0;

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        bool is_due = pulls[i].state != PULL_FREE && px_back_is_due(&pulls[i]);

        if (is_due)
            sum += step(&pulls[i]);
        if (is_due || settle.told[i] != 0)
            px_share_settle(settle.share, i, is_due ? pulls[i].id : 0,
                            pulls[i].at);
        settle.told[i] = is_due ? pulls[i].id : 0;
    }
    px_pulls_unlock();
    return next_ms(sum);
}

/* So much of it has left its queue. */
static uint64_t given(const struct pull *pull)
{
    return px_pull_own_bytes(pull) - px_queue_span(&pull->queue);
}

static void note_closed(struct pull *pull)
{
    pull->has_read = px_lag_payload(pull->to.tool) == 0 &&
                     px_socket_unsent(&pull->to.sock) == 0;
    pull->read_bytes = given(pull);
}

/* What the others were given may be with us still. */
void px_settle_closed(const void *tool)
{
    struct pull *pulls = px_pulls_lock();

    for (unsigned i = 0; i < PULLS_MAX; i++) {
        struct pull *pull = &pulls[i];

        if (pull->state != PULL_FREE && pull->to.tool == tool &&
            (pull->state == PULL_OVER || pull->is_doubted) &&
            px_back_is_due(pull))
            note_closed(pull);
    }
    px_pulls_unlock();
}

bool px_settle_has_all(const struct pull *pull)
{
    return pull->has_read && pull->read_bytes == given(pull);
}

bool px_settle_has_tool(const struct pull *pull)
{
    struct px_peer peer;

    return px_socket_peer(&pull->to.sock, &peer);
}

bool px_settle_is_left(const struct pull *pull)
{
    return here(pull) > 0;
}

uint64_t px_settle_given(const struct pull *pull)
{
    return most(pull->at.sent, see(pull, here(pull)));
}
