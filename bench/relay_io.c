/* Rings and descriptors of the relay. */
#include "bench/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void relay_die(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

void relay_ring_init(struct relay_ring *ring, size_t size_bytes)
{
    ring->bytes = malloc(size_bytes);
    if (ring->bytes == NULL)
        relay_die("no memory for a ring");
    ring->size = size_bytes;
}

int relay_ring_iov(const struct relay_ring *ring, uint64_t at, size_t len,
                   struct iovec iov[2])
{
    size_t from = (size_t)at & (ring->size - 1);
    size_t first = ring->size - from;

    if (len == 0)
        return 0;
    iov[0].iov_base = ring->bytes + from;
    if (len <= first) {
        iov[0].iov_len = len;
        return 1;
    }
    iov[0].iov_len = first;
    iov[1].iov_base = ring->bytes;
    iov[1].iov_len = len - first;
    return 2;
}

static size_t iov_len(const struct iovec *iov, int count)
{
    size_t len = 0;

    for (int i = 0; i < count; i++)
        len += iov[i].iov_len;
    return len;
}

ssize_t relay_end_read(struct relay_end *end, const struct iovec *iov,
                       int count)
{
    ssize_t got = readv(end->fd, iov, count);

    if (got < 0) {
        if (errno == EAGAIN) {
            end->can_read = end->plain;
            return -1;
        }
        if (errno == EINTR)
            return -1;
        if (errno != ECONNRESET)
            relay_die("reading");
        return 0;
    }
    /* A short read emptied the descriptor: the next edge says more. After a
     * hang-up there is none, and the end of the stream is still to be read. */
    if ((size_t)got < iov_len(iov, count) && !end->hung_up)
        end->can_read = end->plain;
    return got;
}

ssize_t relay_end_write(struct relay_end *end, const struct iovec *iov,
                        int count)
{
    ssize_t put = writev(end->fd, iov, count);

    if (put < 0) {
        if (errno == EAGAIN) {
            end->can_write = false;
            return 0;
        }
        if (errno == EINTR)
            return 0;
        if (errno != EPIPE && errno != ECONNRESET)
            relay_die("writing");
        return -1;
    }
    if ((size_t)put < iov_len(iov, count))
        end->can_write = false;
    return put;
}
