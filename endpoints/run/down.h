/* What the launcher sends down the tree: orders, the descriptions of jobs, and
 * stdin.
 *
 * Orders leave before stdin, each as soon as its stream has room. Nothing
 * leaves before there is a hub or after the session is over. What clients push
 * is dropped from the moment when the session begins to end.
 *
 * struct run_down owns its parts: the orders (orders.h), the streams of stdin
 * (job/streams.h) and the launcher's own stdin (console/input.h).
 */
#ifndef ENDPOINTS_RUN_DOWN_H
#define ENDPOINTS_RUN_DOWN_H

#include <stdbool.h>
#include <stdint.h>

struct ep_hub;
struct event_base;
struct job;
struct job_session;
struct run_down;

/* What the caller does at these events. Only on_end may call a function of this
 * header, which is ep_run_down_pump(). */
struct run_down_events {
    /* Every process that reads the launcher's stdin has read it to the end, or
     * has closed it. */
    void (*on_end)(void *arg);
    /* Called once, when the launcher's stdin has ended and the stdin of the
     * processes stays open for clients that push to it. */
    void (*on_held)(void *arg);
    /* The oldest push of this writer was sent, or was dropped because no
     * process reads it. */
    void (*on_pushed)(void *arg, uint32_t writer);
    /* Reading the launcher's stdin failed with errno `err`. It counts as ended
     * at this point. */
    void (*on_error)(void *arg, int err);
};

struct run_down_cfg {
    struct event_base *base; /* borrowed, like all pointers below */
    /* says whether the session runs, is ending or is over */
    const struct job_session *session;
    /* the job whose processes read the launcher's stdin */
    const struct job *job;
    uint32_t nodes_count;
    uint32_t frame_bytes;
    uint16_t window; /* how many frames of stdin may be in the tree at a time */
    /* the processes' stdin stays open, as clients may push more */
    bool is_kept;
    /* A descriptor to read instead of the launcher's stdin; -1: read the
     * launcher's stdin. struct run_down owns it once ep_run_down_open() has
     * succeeded. */
    int input_fd;
    const struct run_down_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_down_open(const struct run_down_cfg *cfg, struct run_down **out);
/* Stops sending, and frees what ep_run_down_open() has made. The hub must still
 * be open. NULL is allowed. */
void ep_run_down_close(struct run_down *down);
/* Sets the hub by which everything is sent from now on. */
void ep_run_down_hub(struct run_down *down, struct ep_hub *hub);

/* Tells the nodes the time of the launcher's clock, now and again (clock.h). To
 * be called before the first job is sent. */
void ep_run_down_begin(struct run_down *down);
/* Returns the queue of orders, which is borrowed. */
struct run_orders *ep_run_down_orders(struct run_down *down);
/* Queues a job's description for all nodes. Returns 0, or OV_EFULL when it is
 * larger than JOB_BYTES_MAX. */
int ep_run_down_job(struct run_down *down, const struct job *job);
/* Opens a stream, whose number is one of job/job.h. JOB_STREAM_STDIN may be
 * opened only once; the launcher's stdin is then read, too. Returns 0,
 * OV_ENOMEM or OV_ESYS. */
int ep_run_down_stream(struct run_down *down, uint32_t stream);

/* Sends the orders and the stdin that wait, as far as there is room. */
void ep_run_down_pump(struct run_down *down);
/* Returns how many bytes a push may have so that it fits into a frame, whatever
 * the size of frames is. */
uint32_t ep_run_down_push_bytes(uint32_t frame_bytes);
/* Send what a client pushes, and note whether clients that push are there, as
 * on_push and on_pushers of struct ep_client_events describe. */
void ep_run_down_push(struct run_down *down, uint32_t base, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
void ep_run_down_pushers(struct run_down *down, bool are_there);
/* Notes that this writer pushes nothing further to the job with this base. May
 * be called from within ep_run_down_push(), ep_run_down_pushers() and
 * on_pushed. */
void ep_run_down_left(struct run_down *down, uint32_t base, uint32_t writer);

/* Tries to read stdin again, as the launcher may have come to the foreground of
 * its terminal. */
void ep_run_down_wake(struct run_down *down);
/* Notes that a process is over and has read this many bytes of the launcher's
 * stdin. */
void ep_run_down_took(struct run_down *down, uint32_t rank,
                      uint64_t taken_bytes);
/* Returns how many bytes of the launcher's stdin were sent. */
uint64_t ep_run_down_sent(const struct run_down *down);
/* Returns how many bytes of the stdin of the run's own job were sent and were
 * not yet taken on all nodes that have readers. It may be too large for some
 * milliseconds, as nodes report what they have taken from time to time. */
uint64_t ep_run_down_waiting(const struct run_down *down);

struct run_stdin_view {
    bool is_open; /* some stdin was sent, and some reader that is not over has
                   * not read all of it */
    bool is_full; /* no more stdin can be sent now */
    /* A branch of the tree has taken half of the window more than the process
     * that is furthest behind. */
    bool is_uneven;
    uint32_t rank; /* the rank of that process; TOPO_NONE: it is not known */
    uint64_t sent_bytes;
    uint64_t base; /* how many frames all readers have taken */
};
/* Returns how much of the launcher's stdin was sent and read. O(children of the
 * launcher). */
struct run_stdin_view ep_run_down_look(const struct run_down *down);
/* Gives the part of stdin that no process has read back to the terminal or
 * file, where other programs can read it. No process may read stdin
 * afterwards. */
void ep_run_down_give_back(struct run_down *down);

#endif
