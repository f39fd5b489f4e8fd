/* The provider's sockets as the system shows them. */
#include "endpoints/ofi/sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/cm.h"

/* A blocking receive on a socket of the listener ends after this time. */
enum { RECV_LIMIT_US = 1000 };

typedef bool (*fd_fn)(void *arg, int fd);

static bool has_name(int fd, bool is_peer, union ep_sockaddr *out)
{
    socklen_t len_bytes = sizeof(*out);

    *out = (union ep_sockaddr){0};
    if ((is_peer ? getpeername : getsockname)(fd, &out->sa, &len_bytes) != 0)
        return false;
    return out->sa.sa_family == AF_INET || out->sa.sa_family == AF_INET6;
}

/* Calls fn for each descriptor until it returns true; returns that descriptor.
 * The folder stays open, because the call must work when no descriptor is
 * free. */
static int fd_search(struct ep_transport *t, fd_fn fn, void *arg)
{
    const struct dirent *entry;

    if (t->fds == NULL)
        return -1;
    rewinddir(t->fds);
    while ((entry = readdir(t->fds)) != NULL) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] == '.' || fd == dirfd(t->fds))
            continue;
        if (fn(arg, fd))
            return fd;
    }
    return -1;
}

static bool is_listener(void *arg, int fd)
{
    const struct ep_transport *t = arg;
    union ep_sockaddr local;
    socklen_t len_bytes = sizeof(int);
    int is_listening = 0;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening,
                      &len_bytes) == 0 &&
           is_listening && has_name(fd, false, &local) &&
           ep_addr_compare(&local, &t->addr) == 0;
}

/* Finds the listening socket and sets options on it, which accepted sockets
 * inherit.
 *
 * tcp of libfabric 1.17 reads a connect request from a blocking socket, so that
 * half a request would stop the whole process: the sockets get a time limit.
 * Links are non-blocking, so the limit does not concern them. Before 1.17 the
 * head of a request and its data are sent apart, and a request that is read
 * between the two is dropped. So a socket counts as readable only when it has
 * more bytes than the head: the data is the longer part and comes at once.
 */
void ep_sock_open(struct ep_transport *t)
{
    struct timeval limit = {.tv_usec = RECV_LIMIT_US};
    int least_bytes = EP_CM_WIRE_MAX;

    t->fds = opendir("/proc/self/fd");
    t->listen_fd = fd_search(t, is_listener, t);
    if (t->listen_fd < 0)
        return;
    (void)setsockopt(t->listen_fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
                     sizeof(limit));
    (void)setsockopt(t->listen_fd, SOL_SOCKET, SO_RCVLOWAT, &least_bytes,
                     sizeof(least_bytes));
}

ino_t ep_sock_inode(int fd)
{
    struct stat is;

    return fstat(fd, &is) == 0 ? is.st_ino : 0;
}

void ep_sock_wake_early(int fd)
{
    int least_bytes = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least_bytes,
                     sizeof(least_bytes));
}

void ep_sock_close(struct ep_transport *t)
{
    if (t->fds)
        closedir(t->fds);
    t->fds = NULL;
    t->listen_fd = -1;
}

bool ep_sock_is_accepted(const struct ep_transport *t, int fd,
                         union ep_sockaddr *peer)
{
    union ep_sockaddr local;

    return fd != t->listen_fd && has_name(fd, false, &local) &&
           ep_addr_compare(&local, &t->addr) == 0 && has_name(fd, true, peer);
}

struct each {
    struct ep_transport *t;
    ep_sock_fn fn;
    void *arg;
};

static bool each_fd(void *arg, int fd)
{
    const struct each *each = arg;
    union ep_sockaddr peer;

    if (ep_sock_is_accepted(each->t, fd, &peer))
        each->fn(each->arg, fd, &peer);
    return false;
}

void ep_sock_each(struct ep_transport *t, ep_sock_fn fn, void *arg)
{
    struct each each = {.t = t, .fn = fn, .arg = arg};

    (void)fd_search(t, each_fd, &each);
}

struct pair {
    const union ep_sockaddr *local, *peer;
};

static bool is_pair(void *arg, int fd)
{
    const struct pair *pair = arg;
    union ep_sockaddr name;

    return has_name(fd, false, &name) &&
           ep_addr_compare(&name, pair->local) == 0 &&
           has_name(fd, true, &name) && ep_addr_compare(&name, pair->peer) == 0;
}

int ep_sock_find(struct ep_transport *t, int guess,
                 const union ep_sockaddr *local, const union ep_sockaddr *peer)
{
    struct pair pair = {.local = local, .peer = peer};

    if (guess >= 0 && is_pair(&pair, guess))
        return guess;
    return fd_search(t, is_pair, &pair);
}

bool ep_sock_is_asked(const struct ep_transport *t)
{
    struct pollfd ready = {.fd = t->listen_fd, .events = POLLIN};

    return t->listen_fd >= 0 && poll(&ready, 1, 0) > 0;
}

int ep_sock_next_free(const struct ep_transport *t)
{
    int fd = fcntl(t->listen_fd, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        close(fd);
    return fd;
}
