/* Merges what several writers send to the stdin of processes into one stream.
 */
#include "job/streams.h"

#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "job/push_set.h"
#include "overlay/base/buf.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"

/* The indexes of the streams: index 0 is the stream with the number
 * JOB_STREAM_STDIN. */
enum { OWN, OTHERS, STREAMS };

/* The states of a stream. */
enum stream_state {
    CLOSED, /* the nodes do not know the stream yet */
    OPEN,   /* the nodes know the stream, and bytes of all writers are passed on
             */
    ENDED,  /* the launcher's stdin has ended; clients may still push */
    OVER,   /* the stream has ended, and all nodes have been told */
    STREAM_STATES
};

static const uint8_t stream_moves[STREAM_STATES] = {
    [CLOSED] = 1u << OPEN,
    [OPEN] = 1u << ENDED,
    [ENDED] = 1u << OVER,
};

/* A message that waits to be sent. */
struct push {
    struct push *next;
    uint32_t writer;
    bool is_ours; /* the message only names a set again, so pushed() is not
                     called */
    uint32_t len_bytes;
    uint8_t mem[];
};

struct writer {
    struct writer *next;
    uint32_t number;
    struct job_push_set set; /* owned: the set that the writer named last */
};

struct stream {
    enum stream_state state;
    struct push *first, **last; /* owned */
    struct writer *writers;     /* owned */
    struct writer *named;       /* the writer whose set is in force after all
                                   queued pushes; NULL: no set is */
};

struct job_streams {
    struct job_streams_cfg cfg;
    struct stream streams[STREAMS];
    struct ov_buf *buf;    /* the buffer that the reader of stdin is filling */
    bool are_expected;     /* clients may push to the run's own job */
    bool are_refused;      /* all pushes are dropped */
    uint64_t sent_bytes;   /* bytes of the launcher's stdin that were sent */
    uint64_t taken_bytes;  /* the most bytes of the launcher's stdin that a
                              process read */
    uint32_t readers_over; /* how many readers of stdin have reported their
                              end */
};

static uint32_t number_of(unsigned which)
{
    return JOB_STREAM_STDIN + which;
}

static void stream_move(struct stream *stream, enum stream_state next)
{
    OV_ASSERT((stream_moves[stream->state] & 1u << next) != 0);
    stream->state = next;
}

int job_streams_open(const struct job_streams_cfg *cfg,
                     struct job_streams **out)
{
    struct job_streams *in = calloc(1, sizeof(*in));

    if (in == NULL)
        return OV_ENOMEM;
    OV_ASSERT(cfg->push_bytes >= OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES);
    in->cfg = *cfg;
    for (unsigned i = 0; i < STREAMS; i++)
        in->streams[i].last = &in->streams[i].first;
    *out = in;
    return 0;
}

/* --- opening */

/* Writes the nodes with processes that read stdin as ranges. */
static uint16_t reader_nodes(const struct job_streams *in,
                             struct topo_range *range)
{
    const struct job *job = in->cfg.job;
    uint32_t max = job->readers_count + job->apps_count + job->places_count;
    struct topo_range *items = calloc(max, sizeof(*items));
    struct topo_ranges nodes;

    if (items == NULL) {
        range[0] = (struct topo_range){1, in->cfg.nodes_count};
        return 1;
    }
    topo_ranges_init(&nodes, items, max);
    job_reader_nodes(job, &nodes);
    topo_ranges_coarsen(&nodes, OV_OPEN_RANGES_MAX);
    memcpy(range, items, nodes.count * sizeof(*range));
    free(items);
    return (uint16_t)nodes.count;
}

void job_streams_open_stream(struct job_streams *in, uint32_t stream)
{
    struct topo_range range[OV_OPEN_RANGES_MAX] = {{1, in->cfg.nodes_count}};
    uint8_t mem[OV_CONTROL_HEAD_BYTES + OV_OPEN_BYTES + sizeof(range)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_open open = {
        .stream = stream, .window = in->cfg.window, .ranges = 1};
    struct stream *opened = &in->streams[stream - JOB_STREAM_STDIN];

    if (stream == JOB_STREAM_PUSHED && opened->state == OPEN)
        return;
    if (stream == JOB_STREAM_STDIN)
        open.ranges = reader_nodes(in, range);
    else if (open.window > JOB_STREAMS_PUSHED_FRAMES)
        open.window = JOB_STREAMS_PUSHED_FRAMES;
    stream_move(opened, OPEN);
    ov_open_encode(&wr, &open, range);
    in->cfg.events->opened(in->cfg.arg, mem + OV_CONTROL_HEAD_BYTES,
                           (uint32_t)(wr.at - mem) - OV_CONTROL_HEAD_BYTES);
}

/* --- queueing pushes */

static struct writer **find_writer(struct stream *stream, uint32_t number)
{
    struct writer **at = &stream->writers;

    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static struct writer *writer_of(struct stream *stream, uint32_t number)
{
    struct writer **at = find_writer(stream, number);

    if (*at == NULL) {
        *at = calloc(1, sizeof(**at));
        OV_ASSERT(*at != NULL);
        (*at)->number = number;
    }
    return *at;
}

void job_streams_leave(struct job_streams *in, uint32_t stream, uint32_t number)
{
    struct stream *of = &in->streams[stream - JOB_STREAM_STDIN];
    struct writer **at = find_writer(of, number), *writer = *at;

    if (writer == NULL)
        return;
    *at = writer->next;
    if (of->named == writer)
        of->named = NULL;
    job_push_set_close(&writer->set);
    free(writer);
}

/* Allocates a push with room for this many bytes. */
static struct push *push_new(const struct writer *writer, uint32_t room_bytes)
{
    struct push *push = malloc(sizeof(*push) + room_bytes);

    OV_ASSERT(push != NULL);
    *push = (struct push){.writer = writer->number};
    return push;
}

static void append_push(struct stream *stream, struct push *push)
{
    *stream->last = push;
    stream->last = &push->next;
}

/* Queues messages that name the writer's set, for a next push that has no room
 * for the set. */
static void name_before(const struct job_streams *in, struct stream *stream,
                        const struct writer *writer)
{
    const uint32_t room_bytes = in->cfg.push_bytes;

    for (uint32_t said = 0; said < writer->set.count;) {
        struct push *push = push_new(writer, room_bytes);
        struct ov_wr wr = ov_wr_init(push->mem, room_bytes);

        said += job_push_set_say(&writer->set, said, &wr, room_bytes);
        push->is_ours = true;
        push->len_bytes = (uint32_t)(wr.at - push->mem);
        append_push(stream, push);
    }
}

/* The length of a push together with the set of its writer; if these do not fit
 * into one message, the length of the push alone. */
static uint32_t room_with(const struct job_streams *in,
                          const struct writer *writer, uint32_t len_bytes)
{
    uint64_t both =
        len_bytes + (uint64_t)writer->set.count * OV_PUSH_RANGE_BYTES;

    return both <= in->cfg.push_bytes ? (uint32_t)both : len_bytes;
}

void job_streams_push(struct job_streams *in, uint32_t stream, uint32_t number,
                      const uint8_t *mem, uint32_t len_bytes)
{
    struct stream *to = &in->streams[stream - JOB_STREAM_STDIN];
    struct writer *writer = writer_of(to, number);
    struct ov_push decoded;
    struct push *push;
    bool is_to_name;

    OV_ASSERT(len_bytes <= in->cfg.push_bytes &&
              ov_push_decode(mem, len_bytes, &decoded) == 0);
    is_to_name = to->named != writer && (decoded.flags & OV_PUSH_NEW) == 0;
    push = push_new(writer,
                    is_to_name ? room_with(in, writer, len_bytes) : len_bytes);
    push->len_bytes = len_bytes;
    memcpy(push->mem, mem, len_bytes);
    if (is_to_name &&
        !job_push_set_say_with(&writer->set, push->mem, &push->len_bytes,
                               in->cfg.push_bytes))
        name_before(in, to, writer);
    append_push(to, push);
    to->named = writer;
    job_push_set_note(&writer->set, decoded);
}

/* Removes the first push, which the caller owns from then on. */
static struct push *take_first(struct stream *stream)
{
    struct push *push = stream->first;

    stream->first = push->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    return push;
}

void job_streams_close(struct job_streams *in)
{
    if (in == NULL)
        return;
    OV_ASSERT(in->buf == NULL);
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = &in->streams[i];

        while (stream->first != NULL)
            free(take_first(stream));
        while (stream->writers != NULL)
            job_streams_leave(in, number_of(i), stream->writers->number);
    }
    free(in);
}

void job_streams_expect(struct job_streams *in, bool are_there)
{
    in->are_expected = are_there;
}

void job_streams_refuse(struct job_streams *in)
{
    in->are_refused = true;
}

/* --- sending pushes */

/* True when no process reads the stream. */
static bool is_unread(const struct job_streams *in, unsigned which)
{
    enum stream_state state = in->streams[which].state;

    if (in->are_refused)
        return true;
    return which == OWN ? state == OVER || in->cfg.job->readers_count == 0
                        : state == CLOSED;
}

/* Reports that the push was sent or dropped, and frees it. */
static void tell_pushed(const struct job_streams *in, unsigned which,
                        struct push *push)
{
    if (!push->is_ours)
        in->cfg.events->pushed(in->cfg.arg, number_of(which), push->writer);
    free(push);
}

/* Drops the pushes of a stream that no process reads. The sets that they named
 * then never reach the nodes. */
static void drop_unread(struct job_streams *in, unsigned which)
{
    struct stream *stream = &in->streams[which];

    while (stream->first != NULL && is_unread(in, which)) {
        stream->named = NULL;
        tell_pushed(in, which, take_first(stream));
    }
}

/* Sends pushes while the stream has room for the push and for `beside` further
 * frames. */
static void send_pushes(struct job_streams *in, unsigned which, uint32_t beside)
{
    const struct job_streams_events *events = in->cfg.events;
    struct stream *stream = &in->streams[which];

    while (stream->first != NULL) {
        struct ov_buf *buf =
            events->frame(in->cfg.arg, number_of(which), beside);
        struct push *push;

        if (buf == NULL)
            return;
        push = take_first(stream);
        memcpy(buf->mem + OV_DOWN_HEAD_BYTES, push->mem, push->len_bytes);
        events->send(in->cfg.arg, number_of(which), buf, push->len_bytes,
                     OV_DOWN_SOME);
        tell_pushed(in, which, push);
    }
}

/* --- the launcher's stdin */

/* Has the next frame of the launcher's stdin read if there is room for it and
 * for `held` frames that are about to be sent. */
static void read_more(struct job_streams *in, uint32_t held)
{
    if (in->streams[OWN].state != OPEN || in->buf != NULL)
        return;
    in->buf = in->cfg.events->frame(in->cfg.arg, JOB_STREAM_STDIN, held);
    if (in->buf != NULL)
        in->cfg.events->read(in->cfg.arg, in->buf);
}

void job_streams_filled(struct job_streams *in, uint32_t len_bytes)
{
    struct ov_buf *buf = in->buf;

    in->buf = NULL;
    in->sent_bytes += len_bytes;
    read_more(in, 1); /* so the next frame is read while this frame is sent */
    in->cfg.events->send(in->cfg.arg, JOB_STREAM_STDIN, buf, len_bytes, 0);
}

struct ov_buf *job_streams_ended(struct job_streams *in)
{
    struct ov_buf *buf = in->buf;

    in->buf = NULL;
    if (in->streams[OWN].state == OPEN)
        stream_move(&in->streams[OWN], ENDED);
    return buf;
}

bool job_streams_is_held(const struct job_streams *in)
{
    return in->streams[OWN].state == ENDED && in->are_expected &&
           !in->cfg.is_kept;
}

static void send_end(struct job_streams *in)
{
    struct stream *own = &in->streams[OWN];
    struct ov_buf *last;

    if (own->state != ENDED || in->cfg.is_kept || in->are_expected ||
        own->first != NULL)
        return;
    last = in->cfg.events->frame(in->cfg.arg, JOB_STREAM_STDIN, 0);
    if (last == NULL)
        return;
    stream_move(own, OVER);
    in->cfg.events->send(in->cfg.arg, JOB_STREAM_STDIN, last, 0, OV_DOWN_END);
}

/* send() may call this function, which calls send(). */
void job_streams_pump(struct job_streams *in)
{
    read_more(in, 0);
    for (unsigned i = 0; i < STREAMS; i++)
        drop_unread(in, i);
    if (in->streams[OWN].state != CLOSED)
        send_pushes(in, OWN, in->buf != NULL ? 1 : 0);
    if (in->streams[OTHERS].state != CLOSED)
        send_pushes(in, OTHERS, 0);
    send_end(in);
}

/* --- how much the processes have read */

void job_streams_took(struct job_streams *in, uint32_t rank,
                      uint64_t taken_bytes)
{
    if (!job_reads(in->cfg.job, rank))
        return;
    in->readers_over++;
    if (taken_bytes > in->taken_bytes)
        in->taken_bytes = taken_bytes;
}

/* A process that was lost does not report what it has read: it may have read
 * all that was sent. */
uint64_t job_streams_taken(const struct job_streams *in)
{
    bool is_known = in->readers_over == job_readers(in->cfg.job) &&
                    in->taken_bytes <= in->sent_bytes;

    return is_known ? in->taken_bytes : in->sent_bytes;
}

uint64_t job_streams_sent(const struct job_streams *in)
{
    return in->sent_bytes;
}
