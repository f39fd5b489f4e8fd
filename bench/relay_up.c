/* The way up: frames of whole lines from the children and the process, merged.
 *
 * Frames stay in the ring into which they were read and are written from
 * there. A line of more than a chunk is passed on in several frames; its input
 * then has the way up for itself until the line ends, at every node on the
 * way, so such a line is not torn either.
 */
#include "config.h"

#include "bench/relay.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct frame {
    uint32_t source;
    uint32_t len;
    uint32_t flags;
};

static void ring_copy(const struct relay_ring *ring, uint64_t at, void *to,
                      size_t len)
{
    struct iovec iov[2];
    int count = relay_ring_iov(ring, at, len, iov);
    char *put = to;

    for (int i = 0; i < count; i++) {
        memcpy(put, iov[i].iov_base, iov[i].iov_len);
        put += iov[i].iov_len;
    }
}

/* The frame at `at`. Returns whether all of it is here. */
static bool frame_get(const struct relay_input *in, uint64_t at,
                      struct frame *frame)
{
    uint32_t word[2];

    if (in->head - at < RELAY_HEADER)
        return false;
    ring_copy(&in->ring, at, word, sizeof word);
    frame->source = word[0];
    frame->flags = word[1] & (RELAY_MORE | RELAY_END);
    frame->len = word[1] & ~(RELAY_MORE | RELAY_END);
    if (frame->len > RELAY_CHUNK) {
        errno = EPROTO;
        relay_die("a frame is too long");
    }
    return in->head - at >= RELAY_HEADER + (uint64_t)frame->len;
}

static void frame_put(struct relay_up *up, uint32_t source, uint32_t word)
{
    memcpy(up->header, &source, sizeof source);
    memcpy(up->header + sizeof source, &word, sizeof word);
}

static bool fill(struct relay_input *in)
{
    struct iovec iov[2];
    size_t room = in->ring.size - (size_t)(in->head - in->tail);

    if (in->eof || !in->end->can_read || room < RELAY_CHUNK / 4)
        return false;
    if (room > RELAY_CHUNK)
        room = RELAY_CHUNK;
    int count = relay_ring_iov(&in->ring, in->head, room, iov);
    ssize_t got = relay_end_read(in->end, iov, count);
    if (got < 0)
        return false;
    if (got == 0)
        in->eof = true;
    in->head += (uint64_t)got;
    return true;
}

/* Handles the END of a child: the child sends nothing after it. */
static void child_end(struct relay_up *up, struct relay_input *in, uint64_t at,
                      const struct frame *frame)
{
    in->ended = true;
    in->head = at;
    if (frame->source > up->status)
        up->status = frame->source;
}

static void child_check(const struct relay_input *in)
{
    if (in->eof && !in->ended) {
        errno = ECONNRESET;
        relay_die("a node was lost");
    }
}

/* Whole frames of a child for one round: about a chunk, none after one that
 * leaves a line open. Returns the bytes, headers included. */
static size_t take_child(struct relay_up *up, struct relay_input *in)
{
    struct frame frame;
    uint64_t at = in->tail;

    while (at - in->tail < RELAY_CHUNK && !in->ended) {
        if (!frame_get(in, at, &frame)) {
            if (at == in->tail)
                child_check(in);
            break;
        }
        if (frame.flags & RELAY_END) {
            child_end(up, in, at, &frame);
            break;
        }
        at += RELAY_HEADER + frame.len;
        in->open = (frame.flags & RELAY_MORE) != 0;
    }
    return (size_t)(at - in->tail);
}

/* Bytes up to and with the last newline within `len` bytes of the tail. */
static size_t whole_lines(const struct relay_input *in, size_t len)
{
    struct iovec iov[2];
    int count = relay_ring_iov(&in->ring, in->tail, len, iov);

    while (count > 0) {
        const char *from = iov[count - 1].iov_base;
        const char *last = memrchr(from, '\n', iov[count - 1].iov_len);

        if (last != NULL) {
            size_t before = count == 2 ? iov[0].iov_len : 0;
            return before + (size_t)(last - from) + 1;
        }
        count--;
    }
    return 0;
}

/* Lines of the process for one round, with the header for them. Returns
 * whether there is a frame; `*len` is its payload. */
static bool take_process(struct relay_up *up, struct relay_input *in,
                         size_t *len)
{
    size_t held = (size_t)(in->head - in->tail);
    size_t most = held < RELAY_CHUNK ? held : RELAY_CHUNK;
    bool was_open = in->open;

    *len = whole_lines(in, most);
    in->open = false;
    if (*len == 0) {
        if (held >= RELAY_CHUNK) {
            *len = RELAY_CHUNK;
            in->open = true;
        } else if (in->eof) {
            *len = held;
            in->ended = true;
        } else {
            in->open = was_open;
            return false;
        }
    }
    if (*len == 0 && !was_open)
        return false;
    frame_put(up, up->source, (uint32_t)*len | (in->open ? RELAY_MORE : 0));
    return true;
}

static void segment_add(struct relay_up *up, int input, size_t header,
                        size_t body)
{
    up->segments[up->segment_count++] = (struct relay_segment){
        .input = input, .header_left = header, .body_left = body};
}

/* What the next writev to the parent consists of: a share of every input. */
static void gather(struct relay_up *up)
{
    int first = up->owner >= 0 ? up->owner : 0;
    int limit = up->owner >= 0 ? up->owner + 1 : up->input_count;

    up->segment_count = 0;
    up->segment_at = 0;
    up->owner = -1;
    for (int i = first; i < limit && up->owner < 0; i++) {
        struct relay_input *in = &up->inputs[i];
        size_t len = 0;

        if (in->ended)
            continue;
        if (in->is_process) {
            if (take_process(up, in, &len))
                segment_add(up, i, RELAY_HEADER, len);
        } else {
            len = take_child(up, in);
            if (len > 0)
                segment_add(up, i, 0, len);
        }
        if (in->open)
            up->owner = i;
    }
    if (up->segment_count == 0 && relay_up_is_done(up) && !up->end_sent) {
        frame_put(up, up->status, RELAY_END);
        segment_add(up, -1, RELAY_HEADER, 0);
        up->end_sent = true;
    }
}

static int segments_iov(const struct relay_up *up, struct iovec *iov)
{
    int count = 0;

    for (int i = up->segment_at; i < up->segment_count; i++) {
        const struct relay_segment *seg = &up->segments[i];

        if (seg->header_left > 0) {
            iov[count].iov_base =
                (void *)(up->header + RELAY_HEADER - seg->header_left);
            iov[count++].iov_len = seg->header_left;
        }
        if (seg->body_left > 0) {
            const struct relay_input *in = &up->inputs[seg->input];
            count += relay_ring_iov(&in->ring, in->tail, seg->body_left,
                                    &iov[count]);
        }
    }
    return count;
}

static void segments_done(struct relay_up *up, size_t put)
{
    while (up->segment_at < up->segment_count) {
        struct relay_segment *seg = &up->segments[up->segment_at];
        size_t part = put < seg->header_left ? put : seg->header_left;

        seg->header_left -= part;
        put -= part;
        part = put < seg->body_left ? put : seg->body_left;
        if (part > 0)
            up->inputs[seg->input].tail += part;
        seg->body_left -= part;
        put -= part;
        if (seg->header_left > 0 || seg->body_left > 0)
            return;
        up->segment_at++;
    }
}

static bool to_parent(struct relay_up *up)
{
    struct iovec iov[RELAY_IOV_MAX];

    if (!up->parent->can_write)
        return false;
    if (up->segment_at == up->segment_count)
        gather(up);
    int count = segments_iov(up, iov);
    if (count == 0)
        return false;
    ssize_t put = relay_end_write(up->parent, iov, count);
    if (put < 0)
        relay_die("the parent is gone");
    segments_done(up, (size_t)put);
    return put > 0;
}

static void write_all(struct iovec *iov, int count)
{
    while (count > 0) {
        ssize_t put = writev(STDOUT_FILENO, iov, count);

        if (put < 0) {
            if (errno == EINTR)
                continue;
            relay_die("writing standard output");
        }
        while (count > 0 && (size_t)put >= iov->iov_len) {
            put -= (ssize_t)iov->iov_len;
            iov++;
            count--;
        }
        if (count > 0) {
            iov->iov_base = (char *)iov->iov_base + put;
            iov->iov_len -= (size_t)put;
        }
    }
}

/* At the root: the lines of the frames that are here, without the headers. */
static bool lines_out(struct relay_up *up, struct relay_input *in)
{
    static char newline[] = "\n";
    struct iovec iov[64];
    struct frame frame;
    int count = 0;
    uint64_t at = in->tail;

    while (count + 3 <= 64 && !in->ended && frame_get(in, at, &frame)) {
        if (frame.flags & RELAY_END) {
            child_end(up, in, at, &frame);
            break;
        }
        count += relay_ring_iov(&in->ring, at + RELAY_HEADER, frame.len,
                                &iov[count]);
        at += RELAY_HEADER + frame.len;
        in->open = (frame.flags & RELAY_MORE) != 0;
        if (in->open)
            continue;
        char last = 0;
        if (frame.len > 0)
            ring_copy(&in->ring, at - 1, &last, 1);
        if (last != '\n')
            iov[count++] = (struct iovec){newline, 1};
    }
    if (at == in->tail) {
        child_check(in);
        return false;
    }
    write_all(iov, count);
    in->tail = at;
    return true;
}

static bool to_stdout(struct relay_up *up)
{
    bool moved = false;

    for (int i = 0; i < up->input_count; i++) {
        if (up->owner >= 0 && up->owner != i)
            continue;
        moved |= lines_out(up, &up->inputs[i]);
        up->owner = up->inputs[i].open ? i : -1;
    }
    return moved;
}

bool relay_up_is_done(const struct relay_up *up)
{
    for (int i = 0; i < up->input_count; i++) {
        const struct relay_input *in = &up->inputs[i];

        if (!in->ended || in->head != in->tail)
            return false;
    }
    return !up->process_left;
}

bool relay_up_step(struct relay_up *up)
{
    bool moved = false;

    for (int i = 0; i < up->input_count; i++)
        moved |= fill(&up->inputs[i]);
    moved |= up->parent != NULL ? to_parent(up) : to_stdout(up);
    return moved;
}
