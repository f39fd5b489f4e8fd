/* The stdin of processes: ordered streams, each with several writers.
 *
 * JOB_STREAM_STDIN is for the processes of the run's own job that read stdin.
 * The launcher's own stdin is one of its writers; the other writers are tools
 * that push (overlay/wire/push.h). JOB_STREAM_PUSHED is for the processes of
 * further jobs, so that these do not wait for the run's own job; it carries
 * only pushes.
 *
 * The pushes of a stream are sent in the order in which they came. Each writer
 * names the set of processes that its pushes are for only once, as if it were
 * the only writer: after a message of another writer, this module names the set
 * again (job/push_set.h). While a frame is being filled from the launcher's
 * stdin, room for it stays reserved in the stream: pushes are sent before it,
 * but do not use that room. After the launcher's stdin has ended, the stdin of
 * the processes ends as soon as no writer pushes any longer.
 *
 * Memory: a copy of each push that waits, with its set of processes when that
 * is named again; the caller limits how many pushes wait. For each writer, the
 * set that it named last. Work for a frame, except for these copies, is
 * O(1). */
#ifndef JOB_STREAMS_H
#define JOB_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

/* The most frames of JOB_STREAM_PUSHED that a node keeps. */
enum { JOB_STREAMS_PUSHED_FRAMES = 8 };

struct job;
struct ov_buf;
struct job_streams;

/* Functions of the caller that this module calls. Streams are numbered as in
 * job/job.h; flags are those of overlay/wire/frame.h. The functions may call
 * back into this module in two ways only: send() may call job_streams_pump(),
 * and send() and pushed() may call job_streams_leave(). */
struct job_streams_events {
    /* Returns a buffer for a frame if the stream has room for `beside` further
     * frames and this one; else NULL. */
    struct ov_buf *(*frame)(void *arg, uint32_t stream, uint32_t beside);
    /* Sends the frame: the buffer has len_bytes after OV_DOWN_HEAD_BYTES. The
     * function becomes the owner of the buffer. */
    void (*send)(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags);
    /* Begins to read the launcher's stdin into the buffer, which stays lent
     * until job_streams_filled() or job_streams_ended() is called. */
    void (*read)(void *arg, struct ov_buf *buf);
    /* Sends a message OV_CONTROL_OPEN with this body to all nodes. */
    void (*opened)(void *arg, const uint8_t *body, uint32_t len_bytes);
    /* Reports that the writer's oldest push on the stream was sent or dropped.
     * Messages that only name a set again are not reported. */
    void (*pushed)(void *arg, uint32_t stream, uint32_t writer);
};

struct job_streams_cfg {
    const struct job *job; /* borrowed: the run's own */
    uint32_t nodes_count;
    uint16_t window;     /* the most frames of JOB_STREAM_STDIN that a node
                            keeps */
    uint32_t push_bytes; /* the longest push: at least its head and one range,
                            at most the room in a buffer */
    bool is_kept;        /* when the launcher's stdin ends, the processes' stdin
                            stays open */
    const struct job_streams_events *events; /* borrowed */
    void *arg;
};

/* Creates *out, with both streams closed. Returns 0 or OV_ENOMEM. */
int job_streams_open(const struct job_streams_cfg *cfg,
                     struct job_streams **out);
/* Frees everything; the reader of stdin must have given back its buffer before.
 * NULL is fine. */
void job_streams_close(struct job_streams *in);

/* Opens a stream on the nodes. JOB_STREAM_STDIN must be opened once only, for
 * the nodes with processes that read stdin (and for some others, if a message
 * has no room for all ranges of these); JOB_STREAM_PUSHED is opened for all
 * nodes, unless it is open already. O(readers). */
void job_streams_open_stream(struct job_streams *in, uint32_t stream);

/* Sends pushes that wait, and has more of the launcher's stdin read, as far as
 * there is room. Drops pushes that no process can receive. */
void job_streams_pump(struct job_streams *in);

/* job_streams_filled() reports that 1 or more bytes of the launcher's stdin are
 * in the buffer that was lent. job_streams_ended() reports that the launcher's
 * stdin has ended; it returns the buffer that was lent, which is the caller's
 * again, or NULL when none was lent. */
void job_streams_filled(struct job_streams *in, uint32_t len_bytes);
struct ov_buf *job_streams_ended(struct job_streams *in);

/* True when the launcher's own stdin has ended, but that of the processes has
 * not, because there are clients that push to them. O(1). */
bool job_streams_is_held(const struct job_streams *in);

/* Queues a copy of a push, in the format of overlay/wire/push.h, which
 * job_streams_pump() sends. The caller gives each writer a number. A push of a
 * writer that has not named a set of processes reaches no process. Ranges are
 * in messages that begin a set or continue it, and ascend over the whole set.
 * O(writers of the stream); plus O(ranges) where a set is named, or must be
 * named again. */
void job_streams_push(struct job_streams *in, uint32_t stream, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
/* Notes that this writer will push nothing more; its pushes that wait are still
 * sent. */
void job_streams_leave(struct job_streams *in, uint32_t stream,
                       uint32_t writer);
/* With are_there: clients may still push to the run's own job, so its stdin
 * must not end yet. Without: no such client is left. */
void job_streams_expect(struct job_streams *in, bool are_there);
/* From now on job_streams_pump() drops all pushes. */
void job_streams_refuse(struct job_streams *in);

/* Notes that a process has ended, and has read this many bytes of the
 * launcher's stdin. O(log readers). */
void job_streams_took(struct job_streams *in, uint32_t rank,
                      uint64_t taken_bytes);
/* job_streams_sent() returns how many bytes of the launcher's stdin were sent
 * to the nodes, job_streams_taken() how many of these a process may have read.
 * The latter is O(readers). */
uint64_t job_streams_sent(const struct job_streams *in);
uint64_t job_streams_taken(const struct job_streams *in);

#endif
