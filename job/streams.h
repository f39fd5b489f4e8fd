/* The stdin of processes: ordered streams that several have something for.
 *
 * JOB_STREAM_STDIN is for those of the run's own job that read stdin. The
 * launcher's own stdin is one of its writers; the others are tools, by their
 * pushes (overlay/wire/push.h), which from there on are stdin like any other
 * bytes. JOB_STREAM_PUSHED is for the processes of further jobs, which so do
 * not wait for the run's own; only pushes go there.
 *
 * The pushes of a stream go in the order in which they came. Each of its
 * writers names whom its pushes are for once, as if there were no other: where
 * a message of another one has gone meanwhile that is said anew
 * (job/push_set.h). A frame of the launcher's own that is being read keeps its
 * place in the room of the stream: pushes go before it, but leave it room. The
 * end of the launcher's stdin is that of the processes', as soon as nobody
 * pushes any more.
 *
 * A push is copied once, and waits; who pushes bounds how many. Beside it waits
 * the set that it is for, where that is named anew; and of each writer the set
 * is kept that it named last. All else is O(1) for each frame.
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

/* Streams as in job/job.h; flags as in overlay/wire/frame.h. Of all calls only
 * that of the pump may be made from within, and only from send, and that of who
 * leaves from send and pushed. */
struct job_streams_events {
    /* A buffer for a frame of the stream, where it has room for it beside
     * `beside` others; NULL: not now. */
    struct ov_buf *(*frame)(void *arg, uint32_t stream, uint32_t beside);
    /* So many bytes are in the buffer, behind OV_DOWN_HEAD_BYTES; it passes. */
    void (*send)(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags);
    /* The launcher's stdin is to be read into the buffer, which is borrowed
     * until job_streams_filled or job_streams_ended. */
    void (*read)(void *arg, struct ov_buf *buf);
    /* A message OV_CONTROL_OPEN without its head, for all nodes. */
    void (*opened)(void *arg, const uint8_t *body, uint32_t len_bytes);
    /* The oldest push of this writer of the stream is sent, or nobody gets it.
     * What only names a set anew is told to nobody. */
    void (*pushed)(void *arg, uint32_t stream, uint32_t writer);
};

struct job_streams_cfg {
    const struct job *job; /* borrowed: the run's own */
    uint32_t nodes_count;
    uint16_t window;     /* frames of a stream that a node keeps at most, and
                            of JOB_STREAM_PUSHED 8 */
    uint32_t push_bytes; /* of a push at most: a head and a range at least, and
                            what a buffer has room for */
    bool is_kept;        /* the end of the launcher's stdin is not told */
    const struct job_streams_events *events; /* borrowed */
    void *arg;
};

/* Both streams are closed. Returns 0 or OV_ENOMEM. */
int job_streams_open(const struct job_streams_cfg *cfg,
                     struct job_streams **out);
/* No buffer is being read into any more. NULL is fine. */
void job_streams_close(struct job_streams *in);

/* Opens a stream: JOB_STREAM_STDIN once, for the nodes with readers (a superset
 * where these are too many ranges); JOB_STREAM_PUSHED for all nodes, unless it
 * is open already. O(readers). */
void job_streams_open_stream(struct job_streams *in, uint32_t stream);

/* Sends what waits, and has more read, as far as there is room. Drops pushes
 * that nobody can get any more. */
void job_streams_pump(struct job_streams *in);

/* The launcher's own, of which 1 or more bytes are in the buffer; or its end:
 * returns the buffer that was to be filled, the caller's again, or NULL. */
void job_streams_filled(struct job_streams *in, uint32_t len_bytes);
struct ov_buf *job_streams_ended(struct job_streams *in);

/* True when the launcher's own stdin has ended, and the processes are not told
 * that yet because others are there that push to them. O(1). */
bool job_streams_is_held(const struct job_streams *in);

/* A push for processes of this stream, as of overlay/wire/push.h, which is
 * copied; the pump sends it. The caller gives each writer a number. A push
 * without a set is for nobody; ranges come with a set that begins or goes on,
 * ascending in all of it. O(writers of the stream); O(ranges) where a
 * set is named, or to be named anew. */
void job_streams_push(struct job_streams *in, uint32_t stream, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
/* This writer has nothing more; what waits of it goes. */
void job_streams_leave(struct job_streams *in, uint32_t stream,
                       uint32_t writer);
/* Somebody is about to push to the run's own job, so that there is no end yet;
 * or nobody is left. */
void job_streams_expect(struct job_streams *in, bool are_there);
/* Nobody gets a push any more: the pump drops them. */
void job_streams_refuse(struct job_streams *in);

/* A process is over and took so many bytes of the launcher's own. O(log
 * readers). */
void job_streams_took(struct job_streams *in, uint32_t rank,
                      uint64_t taken_bytes);
/* How much of the launcher's own was sent; and how much of that somebody may
 * have taken. The latter O(readers). */
uint64_t job_streams_sent(const struct job_streams *in);
uint64_t job_streams_taken(const struct job_streams *in);

#endif
