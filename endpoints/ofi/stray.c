/* Strangers: sockets that have connected to the listener and have proved
 * nothing. */
#include "endpoints/ofi/stray.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/sockets.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

enum {
    /* strangers of this age are shut when descriptors are scarce */
    PRESSED_MS = 100,
    /* descriptors are scarce when strangers have this part of them */
    PRESSED_SHARE = 4
};

/* The addresses of links and requests, sorted. */
struct known {
    union ep_sockaddr *peers;
    size_t count;
};

struct scan {
    struct ep_transport *t;
    const struct known *known;
    int64_t now_ms, age_ms;
    size_t left;
};

static int compare(const void *a, const void *b)
{
    return ep_addr_compare(a, b);
}

static bool known_init(const struct ep_transport *t, struct known *known)
{
    const struct ep_request *req;
    const struct ep_conn *conn;
    size_t room = 0;

    TAILQ_FOREACH (conn, &t->conns, link)
        room += conn->is_accepted;
    TAILQ_FOREACH (conn, &t->dead, link)
        room += conn->is_accepted;
    TAILQ_FOREACH (req, &t->requests, link)
        room++;
    known->count = 0;
    known->peers = calloc(room + 1, sizeof(known->peers[0]));
    if (known->peers == NULL)
        return false;
    TAILQ_FOREACH (conn, &t->conns, link)
        if (conn->is_accepted)
            known->peers[known->count++] = conn->peer;
    TAILQ_FOREACH (conn, &t->dead, link)
        if (conn->is_accepted)
            known->peers[known->count++] = conn->peer;
    TAILQ_FOREACH (req, &t->requests, link)
        if (req->info && req->info->dest_addr &&
            req->info->dest_addrlen <= sizeof(known->peers[0]))
            memcpy(&known->peers[known->count++], req->info->dest_addr,
                   req->info->dest_addrlen);
    qsort(known->peers, known->count, sizeof(known->peers[0]), compare);
    return true;
}

static bool known_has(const struct known *known, const union ep_sockaddr *peer)
{
    return bsearch(peer, known->peers, known->count, sizeof(*peer), compare) !=
           NULL;
}

/* Returns the entry of a descriptor in the table; enlarges the table for it. */
static struct ep_stray *stray_at(struct ep_transport *t, int fd)
{
    size_t room = t->strays.room ? t->strays.room : 64;
    struct ep_stray *more;

    while (room <= (size_t)fd)
        room *= 2;
    if (room > t->strays.room) {
        more = realloc(t->strays.notes, room * sizeof(*more));
        if (more == NULL)
            return NULL;
        memset(more + t->strays.room, 0,
               (room - t->strays.room) * sizeof(*more));
        t->strays.notes = more;
        t->strays.room = room;
    }
    return &t->strays.notes[fd];
}

/* Notes a socket that belongs to no link. The socket is made non-blocking,
 * because the provider may read from it as if a whole request had arrived. A
 * note stays when its socket is closed, and a later socket may have the same
 * descriptor and the same address: only the inode tells them apart. */
static struct ep_stray *stray_note(struct ep_transport *t, int fd,
                                   const union ep_sockaddr *peer)
{
    struct ep_stray *stray = stray_at(t, fd);
    ino_t inode = ep_sock_inode(fd);

    if (stray == NULL || (stray->since_ms != 0 && stray->inode == inode))
        return stray;
    stray->peer = *peer;
    stray->inode = inode;
    stray->since_ms = ep_clock_ms();
    stray->is_shut = false;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return stray;
}

static bool is_pressed(const struct ep_transport *t)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           t->strays.count > limit.rlim_cur / PRESSED_SHARE;
}

static void scan_in(struct ep_transport *t, int64_t ms)
{
    int64_t due_ms = ep_clock_ms() + ms;

    if (t->strays.scan_ms == 0 || due_ms < t->strays.scan_ms)
        t->strays.scan_ms = due_ms;
    ep_wake_sweep_in(t, ms);
}

void ep_stray_on_accept(struct ep_transport *t, int fd)
{
    union ep_sockaddr peer;

    if (fd < 0) {
        /* the listener stays ready, so the loop must not wait for it */
        t->eq.is_paused = true;
        scan_in(t, EP_SWEEP_MS_MIN);
        return;
    }
    if (!ep_sock_is_accepted(t, fd, &peer)) {
        scan_in(t, ep_wake_period_ms(t));
        return;
    }
    (void)stray_note(t, fd, &peer);
    t->strays.count++;
    scan_in(t, is_pressed(t) ? EP_SWEEP_MS_MIN : ep_wake_period_ms(t));
}

int ep_stray_release(struct ep_transport *t, const union ep_sockaddr *peer)
{
    union ep_sockaddr there;
    int found = -1;

    if (t->listen_fd < 0)
        return -1;
    for (size_t fd = 0; fd < t->strays.room && found < 0; fd++) {
        const struct ep_stray *stray = &t->strays.notes[fd];

        /* The socket of the note may be closed by now, so the system is
         * asked. */
        if (stray->since_ms != 0 && ep_addr_compare(&stray->peer, peer) == 0 &&
            ep_sock_is_accepted(t, (int)fd, &there) &&
            ep_addr_compare(&there, peer) == 0)
            found = (int)fd;
    }
    if (found >= 0)
        t->strays.notes[found].since_ms = 0;
    else
        found = ep_sock_find(t, -1, &t->addr, peer);
    if (found >= 0)
        ep_sock_wake_early(found);
    return found;
}

static void stray_shut(struct ep_transport *t, struct ep_stray *stray, int fd)
{
    stray->is_shut = true;
    t->stats.silent_shut++;
    (void)shutdown(fd, SHUT_RDWR);
    ep_wake_disarm_eq(t);
}

static void scan_one(void *arg, int fd, const union ep_sockaddr *peer)
{
    struct scan *scan = arg;
    struct ep_stray *stray;

    if (known_has(scan->known, peer))
        return;
    stray = stray_note(scan->t, fd, peer);
    if (stray == NULL)
        return;
    scan->left++;
    if (!stray->is_shut && scan->now_ms - stray->since_ms >= scan->age_ms)
        stray_shut(scan->t, stray, fd);
}

/* Shuts the sockets of at least this age. Returns the number of all sockets
 * without a link, including those shut. */
static size_t scan_run(struct ep_transport *t, int64_t age_ms)
{
    struct known known;
    struct scan scan = {
        .t = t, .known = &known, .now_ms = ep_clock_ms(), .age_ms = age_ms};

    if (!known_init(t, &known))
        return 0;
    ep_sock_each(t, scan_one, &scan);
    free(known.peers);
    t->strays.count = scan.left;
    return scan.left;
}

void ep_stray_sweep(struct ep_transport *t, int64_t now_ms)
{
    bool is_tight = t->eq.is_paused || is_pressed(t);

    if (t->listen_fd < 0 || t->strays.scan_ms == 0)
        return;
    if (now_ms < t->strays.scan_ms) {
        ep_wake_sweep_in(t, t->strays.scan_ms - now_ms);
        return;
    }
    t->strays.scan_ms = 0;
    if (scan_run(t, is_tight ? PRESSED_MS : t->cfg.unproved_ms) > 0)
        scan_in(t, is_tight ? PRESSED_MS / 2 : ep_wake_period_ms(t));
}

void ep_stray_later(struct ep_transport *t, bool is_news)
{
    int64_t now_ms;

    if (t->listen_fd < 0)
        return;
    if (is_news) {
        scan_in(t, t->cfg.unproved_ms);
        return;
    }
    now_ms = ep_clock_ms();
    if (t->strays.scan_ms == 0)
        t->strays.scan_ms = now_ms + t->cfg.unproved_ms;
    else if (now_ms >= t->strays.scan_ms)
        ep_stray_sweep(t, now_ms);
}

bool ep_stray_shut_all(struct ep_transport *t)
{
    return t->listen_fd >= 0 && scan_run(t, 0) > 0;
}
