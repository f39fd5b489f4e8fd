/* Sinks: descriptors whose write can block, kept away from the event loop.
 *
 * The console's descriptors are inherited. Non-blocking mode belongs to the
 * open file description, which is shared with the shell and with every other
 * program on it, so it is never set here: a blocked write blocks a thread.
 *
 * Each sink has a thread of its own, made with its first job, so that a stuck
 * stdout cannot delay stderr. One thread with poll() for all was rejected:
 * POLLOUT promises a pipe PIPE_BUF (4 KiB) bytes and a terminal or file nothing
 * at all, so such a thread would write in small pieces (2.5 times slower into a
 * pipe) and still hang with the first slow file system.
 *
 * Sinks for calls may share one thread of the writer, as the files of all
 * stores of a process do: these files are on one file system, and if that is
 * slow or hangs, a thread for each would hang in it. The shared thread does one
 * call of each sink in turn, so the calls of a sink wait for at most one call
 * of each other sink. If the file system hangs, all of these sinks wait, and no
 * others. The loop never waits, even when it closes a sink (ep_sink_leave).
 *
 * Jobs of a sink are done in order. Writes that wait are joined into one
 * writev(). Memory of a job is borrowed until its answer. Answers are callbacks
 * in the thread that runs the event base, in batches. SIGPIPE is blocked in the
 * threads: a write whose reader has closed gives EPIPE. All other signals are
 * blocked there, too; a terminal's `tostop` therefore does not stop the
 * program.
 *
 * Bounds: EP_SINK_JOBS_MAX jobs and about 28 KiB per sink.
 */
#ifndef ENDPOINTS_SYS_WRITER_H
#define ENDPOINTS_SYS_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct event_base;
struct ep_writer;
struct ep_sink;

enum {
    /* most jobs of one sink that are not answered yet */
    EP_SINK_JOBS_MAX = 256,
    EP_SINK_IOV_MAX = 4, /* most pieces of one write */
};

/* Callbacks of a sink. Any of them may call functions of the sink or close it,
 * but must not close the writer. A callback may be NULL when it is not used. */
struct ep_sink_events {
    /* A job is done: the kernel has taken every byte of a write, or a call
     * returned 0. */
    void (*on_written)(void *arg, uint64_t cookie);
    /* A write failed (EPIPE, ENOSPC, EIO ...): called once. No job of the sink
     * is answered after it, and the thread no longer uses their memory. */
    void (*on_error)(void *arg, int err);
    /* A call (ep_sink_call) returned this errno. Later jobs are still done. */
    void (*on_failed)(void *arg, uint64_t cookie, int err);
    /* Called when all callbacks of this batch were made. */
    void (*on_batch_end)(void *arg);
};

/* A function that the sink's thread calls. Returns 0 or an errno. */
typedef int (*ep_sink_fn)(void *arg);

/* Opens a writer. Returns 0, OV_ENOMEM or OV_ESYS. `base` is borrowed and must
 * outlive the writer. */
int ep_writer_open(struct event_base *base, struct ep_writer **out);

/* Closes the sinks that are left, each as ep_sink_close does, and ends the
 * shared thread in the same way. NULL is fine. */
void ep_writer_close(struct ep_writer *w, bool give_up);

/* True when all jobs of all sinks are done and answered. O(sinks). */
bool ep_writer_is_idle(const struct ep_writer *w);

/* Makes a sink with a copy of `fd`; the caller may close its own at any time.
 * `fd` -1: a sink without descriptor, for calls only. `events` is borrowed.
 * Returns 0, OV_ENOMEM, or OV_ESYS (errno: EBADF, EMFILE ...). */
int ep_sink_open(struct ep_writer *w, int fd,
                 const struct ep_sink_events *events, void *arg,
                 struct ep_sink **out);

/* Makes a sink for calls. All sinks made by this function use one thread
 * together. ep_sink_leave ends it. Returns 0 or OV_ENOMEM. */
int ep_sink_open_shared(struct ep_writer *w,
                        const struct ep_sink_events *events, void *arg,
                        struct ep_sink **out);

/* Ends a sink that has a thread of its own. No callback follows, and the memory
 * of all jobs is the caller's again. Waits until all queued jobs are done, for
 * ever if need be; or with `give_up` interrupts a write in progress and drops
 * the rest. NULL is fine.
 *
 * With give_up, a thread that is still in a system call after a second (a dead
 * network file system) is abandoned; false is returned then and the memory of
 * the jobs must stay.
 */
bool ep_sink_close(struct ep_sink *sink, bool give_up);

/* Drops the calls that are not begun, of a sink that shares its thread; they
 * get no answer. Returns true when a call is being done, whose memory must
 * stay. O(1), does not wait. */
bool ep_sink_drop(struct ep_sink *sink);

/* Ends a sink that shares its thread: drops calls as ep_sink_drop does; no
 * callback follows. last(arg) is called once: in the thread, after its present
 * job; within ep_writer_close, if the thread had no time; or at once, when the
 * sink has had no call. If the thread never returns from a system call,
 * last(arg) is never called, and its memory must stay. O(1), does not wait. */
void ep_sink_leave(struct ep_sink *sink, void (*last)(void *arg), void *arg);

/* Queues a write of n pieces (0 to EP_SINK_IOV_MAX), which stay borrowed until
 * on_written(cookie) or on_error. Never blocks. Returns 0, OV_EFULL
 * (EP_SINK_JOBS_MAX jobs are queued: try again after a batch), OV_ECLOSED after
 * a failed write, OV_EINVAL, or OV_ESYS when the thread could not be made. */
int ep_sink_write(struct ep_sink *sink, const struct iovec *iov, int n,
                  uint64_t cookie);

/* Queues a call of fn(arg) in the sink's thread, in order with its writes.
 * Returns what ep_sink_write returns. */
int ep_sink_call(struct ep_sink *sink, ep_sink_fn fn, void *arg,
                 uint64_t cookie);

/* Waits until all jobs of the sink are done, for wait_ms at most, without
 * callbacks. Returns false when they are not, or a write has failed. For the
 * end, when the loop no longer runs. */
bool ep_sink_wait(struct ep_sink *sink, unsigned wait_ms);

/* Returns the sink's copy of its descriptor, which stays the sink's; -1: it has
 * none. */
int ep_sink_fd(const struct ep_sink *sink);

/* Returns the number of bytes written so far, including those of unfinished
 * jobs: the number grows as long as there is a reader. May be called in any
 * thread. */
uint64_t ep_sink_progress(const struct ep_sink *sink);

#endif
