/* What goes down from the launcher: orders, the texts of jobs, stdin.
 *
 * Orders leave before stdin, each as soon as its stream has room. Nothing
 * leaves before there is a hub or after the session is over; pushes are dropped
 * once the session is only ending.
 *
 * It owns its parts: the orders (orders.h), the streams of stdin
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

/* on_end may call ep_run_down_pump(). Otherwise no function of this header may
 * be called from within these. */
struct run_down_events {
    /* The stdin of all processes that read the launcher's has ended. */
    void (*on_end)(void *arg);
    /* The launcher's stdin has ended, and that of the processes stays open as
     * long as clients are there that push to it: once. */
    void (*on_held)(void *arg);
    /* The oldest push of this writer was sent, or dropped because no process
     * reads it. */
    void (*on_pushed)(void *arg, uint32_t writer);
    /* The launcher's stdin cannot be read on; it counts as ended at this
     * point. */
    void (*on_error)(void *arg, int err);
};

struct run_down_cfg {
    struct event_base *base;           /* borrowed, like all that follows */
    const struct job_session *session; /* how far the session is */
    const struct job *job; /* the job that reads the launcher's stdin */
    uint32_t nodes_count;
    uint32_t frame_bytes;
    uint16_t window; /* of the stream of stdin, in frames */
    bool is_kept; /* the end of stdin is not told, as clients may push more */
    /* Owned from a successful open on: read instead of the launcher's stdin;
     * -1: none. */
    int input_fd;
    const struct run_down_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_down_open(const struct run_down_cfg *cfg, struct run_down **out);
/* The hub must still be open. NULL is allowed. */
void ep_run_down_close(struct run_down *down);
/* Sends by this hub from now on. */
void ep_run_down_hub(struct run_down *down, struct ep_hub *hub);

/* Returns the orders; borrowed. */
struct run_orders *ep_run_down_orders(struct run_down *down);
/* Queues a job's text for all nodes. Returns 0, or OV_EFULL when it is larger
 * than JOB_BYTES_MAX. */
int ep_run_down_job(struct run_down *down, const struct job *job);
/* Opens a stream of job/job.h; with JOB_STREAM_STDIN, which is opened once,
 * also the launcher's stdin. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_run_down_stream(struct run_down *down, uint32_t stream);

/* Sends what waits, as far as there is room. */
void ep_run_down_pump(struct run_down *down);
/* Returns the most bytes of a push that fit into a frame of any size. */
uint32_t ep_run_down_push_bytes(uint32_t frame_bytes);
/* Do what on_push and on_pushers of struct ep_client_events are to do. */
void ep_run_down_push(struct run_down *down, uint32_t base, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
void ep_run_down_pushers(struct run_down *down, bool are_there);
/* This writer pushes nothing further to that job. May be called from within
 * ep_run_down_push(), ep_run_down_pushers() and on_pushed. */
void ep_run_down_left(struct run_down *down, uint32_t base, uint32_t writer);

/* The launcher may have come to the foreground. */
void ep_run_down_wake(struct run_down *down);
/* A process is over, and took this many bytes of the launcher's stdin. */
void ep_run_down_took(struct run_down *down, uint32_t rank,
                      uint64_t taken_bytes);
/* Returns how many bytes of the launcher's stdin were sent. */
uint64_t ep_run_down_sent(const struct run_down *down);
/* No process will take more: the rest of stdin is left to other programs. */
void ep_run_down_give_back(struct run_down *down);

#endif
