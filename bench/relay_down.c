/* The way down: one ring, written to every child and to the process. */
#include "bench/relay.h"

#include <sys/socket.h>
#include <unistd.h>

/* The position before which every out has taken everything. */
static uint64_t lowest(const struct relay_down *down)
{
    uint64_t low = down->head;

    for (int i = 0; i < down->out_count; i++) {
        if (down->outs[i].open && down->outs[i].at < low)
            low = down->outs[i].at;
    }
    return low;
}

static bool fill(struct relay_down *down)
{
    struct iovec iov[2];
    size_t room = down->ring.size - (size_t)(down->head - lowest(down));

    if (down->eof || !down->source->can_read || room < RELAY_CHUNK)
        return false;
    int count = relay_ring_iov(&down->ring, down->head, RELAY_CHUNK, iov);
    ssize_t got = relay_end_read(down->source, iov, count);
    if (got < 0)
        return false;
    if (got == 0)
        down->eof = true;
    down->head += (uint64_t)got;
    return true;
}

static bool drain(struct relay_down *down, struct relay_out *out)
{
    struct iovec iov[2];
    size_t len = (size_t)(down->head - out->at);

    if (len == 0) {
        if (down->eof)
            relay_down_close(out);
        return false;
    }
    if (!out->end->can_write)
        return false;
    int count = relay_ring_iov(&down->ring, out->at, len, iov);
    ssize_t put = relay_end_write(out->end, iov, count);
    if (put < 0) {
        relay_down_close(out);
        return true;
    }
    out->at += (uint64_t)put;
    if (down->eof && out->at == down->head)
        relay_down_close(out);
    return put > 0;
}

void relay_down_close(struct relay_out *out)
{
    if (!out->open)
        return;
    out->open = false;
    if (!out->is_pipe) {
        /* The way up goes on; a failure means that it is over as well. */
        (void)shutdown(out->end->fd, SHUT_WR);
        return;
    }
    close(out->end->fd);
    out->end->fd = -1;
}

bool relay_down_step(struct relay_down *down)
{
    bool moved = fill(down);

    for (int i = 0; i < down->out_count; i++) {
        if (down->outs[i].open)
            moved |= drain(down, &down->outs[i]);
    }
    return moved;
}
