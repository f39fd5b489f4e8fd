/* The stdin of processes: ordered streams, each with several writers.
 *
 * JOB_STREAM_STDIN is for the processes of the run's own job that read stdin.
 * The launcher's own stdin is one of its writers; the others are tools that
 * push (overlay/wire/push.h). From here on their bytes are stdin like any
 * others. JOB_STREAM_PUSHED is for the processes of further jobs, so that these
 * do not wait for the run's own job; only pushes go there.
 *
 * The pushes of a stream are sent in the order in which they came. Each writer
 * names the set of processes that its pushes are for once, as if there were no
 * other writer: after a message of another writer the set is named again
 * (job/push_set.h). A frame of the launcher's stdin that is being read keeps
 * its place in the room of the stream: pushes are sent before it, but leave it
 * room. When the launcher's stdin has ended, the stdin of the processes ends as
 * soon as nobody pushes any longer.
 *
 * A push is copied once, and waits; the caller bounds how many wait. With it
 * waits its set, where that is named again; and for each writer the set that it
 * named last is kept. Everything else is O(1) for each frame.
 */
#ifndef JOB_STREAMS_H
#define JOB_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Frames of JOB_STREAM_PUSHED that a node keeps at most. */
enum { JOB_STREAMS_PUSHED_FRAMES = 8 };

struct job;
struct ov_buf;
struct job_streams;

/* What this module asks of its caller. Streams are numbered as in job/job.h;
 * flags are those of overlay/wire/frame.h. From within these only two calls are
 * allowed: job_streams_pump() from send, and job_streams_leave() from send and
 * pushed. */
struct job_streams_events {
    /* Returns a buffer for a frame of the stream, if it has room for that
     * beside `beside` other frames; NULL: not now. */
    struct ov_buf *(*frame)(void *arg, uint32_t stream, uint32_t beside);
    /* Sends the frame: len_bytes are in the buffer after OV_DOWN_HEAD_BYTES.
     * Ownership of the buffer passes. */
    void (*send)(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags);
    /* Reads the launcher's stdin into the buffer, which is lent until
     * job_streams_filled or job_streams_ended is called. */
    void (*read)(void *arg, struct ov_buf *buf);
    /* Sends a message OV_CONTROL_OPEN, given without its head, to all nodes. */
    void (*opened)(void *arg, const uint8_t *body, uint32_t len_bytes);
    /* The oldest push of this writer of the stream is sent, or was dropped.
     * Messages that only name a set again are not reported. */
    void (*pushed)(void *arg, uint32_t stream, uint32_t writer);
};

struct job_streams_cfg {
    const struct job *job; /* borrowed: the run's own */
    uint32_t nodes_count;
    uint16_t window;     /* most frames of a stream that a node keeps (8 of
                            JOB_STREAM_PUSHED) */
    uint32_t push_bytes; /* longest push: at least a head and a range, at
                            most what a buffer has room for */
    bool is_kept;        /* do not tell the end of the launcher's stdin */
    const struct job_streams_events *events; /* borrowed */
    void *arg;
};

/* Begins with both streams closed. Returns 0 or OV_ENOMEM. */
int job_streams_open(const struct job_streams_cfg *cfg,
                     struct job_streams **out);
/* No buffer may be lent for reading any longer. NULL is fine. */
void job_streams_close(struct job_streams *in);

/* Opens a stream: JOB_STREAM_STDIN once, for the nodes with readers (or for a
 * superset, where these are too many ranges); JOB_STREAM_PUSHED for all nodes,
 * unless it is open already. O(readers). */
void job_streams_open_stream(struct job_streams *in, uint32_t stream);

/* Sends what waits, and asks for more of the launcher's stdin, as far as there
 * is room. Drops pushes that nobody can get. */
void job_streams_pump(struct job_streams *in);

/* The launcher's stdin was read: 1 or more bytes are in the buffer. Or it has
 * ended: then this returns the buffer that was to be filled, which is the
 * caller's again, or NULL. */
void job_streams_filled(struct job_streams *in, uint32_t len_bytes);
struct ov_buf *job_streams_ended(struct job_streams *in);

/* True when the launcher's own stdin has ended, and the processes are not told
 * that yet because others are there that push to them. O(1). */
bool job_streams_is_held(const struct job_streams *in);

/* Queues a push for processes of this stream, in the format of
 * overlay/wire/push.h; it is copied, and the pump sends it. The caller gives
 * each writer a number. A push before any set was named is for nobody. Ranges
 * come in a message that begins a set or continues it, ascending over the whole
 * set. O(writers of the stream); O(ranges) where a set is named, or must be
 * named again. */
void job_streams_push(struct job_streams *in, uint32_t stream, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
/* This writer pushes nothing more; what it has pushed is still sent. */
void job_streams_leave(struct job_streams *in, uint32_t stream,
                       uint32_t writer);
/* Somebody is about to push to the run's own job, so that its stdin must not
 * end yet; or nobody is left who might. */
void job_streams_expect(struct job_streams *in, bool are_there);
/* Nobody gets any push from now on: the pump drops them. */
void job_streams_refuse(struct job_streams *in);

/* A process is over; it has taken this many bytes of the launcher's stdin.
 * O(log readers). */
void job_streams_took(struct job_streams *in, uint32_t rank,
                      uint64_t taken_bytes);
/* How many bytes of the launcher's stdin were sent, and how many of these a
 * process may have taken. The latter is O(readers). */
uint64_t job_streams_sent(const struct job_streams *in);
uint64_t job_streams_taken(const struct job_streams *in);

#endif
