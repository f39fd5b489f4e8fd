/* What goes down from the launcher: orders, the texts of jobs, stdin.
 *
 * Orders leave before stdin, each as soon as its stream has room. Nothing
 * leaves before there is a hub, nor when the session is over; pushes are
 * dropped once the session does no more than end.
 *
 * It owns what it is made of: the orders (orders.h), the streams of stdin
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

/* on_end may call ep_run_down_pump(); nothing else here may be called from
 * within any of them. */
struct run_down_events {
    /* The stdin of all that read the launcher's has ended. */
    void (*on_end)(void *arg);
    /* The launcher's stdin has ended, and that of the processes stays open as
     * long as clients are there that push to it: once. */
    void (*on_held)(void *arg);
    /* The oldest push of this writer is sent, or nobody gets it. */
    void (*on_pushed)(void *arg, uint32_t writer);
    /* The launcher's stdin cannot be read; it counts as ended behind this. */
    void (*on_error)(void *arg, int err);
};

struct run_down_cfg {
    struct event_base *base;           /* borrowed, as all that follows */
    const struct job_session *session; /* how far it is */
    const struct job *job;             /* that reads the launcher's stdin */
    uint32_t nodes_count;
    uint32_t frame_bytes;
    uint16_t window; /* of that stream, in frames */
    bool is_kept;    /* its end is not told: others may push more */
    int input_fd;    /* owned from a successful open on: in place of the
                        launcher's stdin; -1: none */
    const struct run_down_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_down_open(const struct run_down_cfg *cfg, struct run_down **out);
/* The hub is still open. NULL is allowed. */
void ep_run_down_close(struct run_down *down);
/* By this hub, from now on. */
void ep_run_down_hub(struct run_down *down, struct ep_hub *hub);

/* Borrowed. */
struct run_orders *ep_run_down_orders(struct run_down *down);
/* Queues a job's text for all nodes. Returns 0; OV_EFULL when it is larger than
 * JOB_BYTES_MAX. */
int ep_run_down_job(struct run_down *down, const struct job *job);
/* Opens a stream of job/job.h, and with JOB_STREAM_STDIN, which is opened once,
 * the launcher's stdin. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_run_down_stream(struct run_down *down, uint32_t stream);

/* Sends what waits, as far as there is room. */
void ep_run_down_pump(struct run_down *down);
/* The most bytes of a push: it has room in a frame of every size. */
uint32_t ep_run_down_push_bytes(uint32_t frame_bytes);
/* A push, and those who push: as of struct ep_tap_events. */
void ep_run_down_push(struct run_down *down, uint32_t base, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes);
void ep_run_down_pushers(struct run_down *down, bool are_there);
/* This writer pushes nothing further to that job. It may be said from within
 * these, and from on_pushed. */
void ep_run_down_left(struct run_down *down, uint32_t base, uint32_t writer);

/* The launcher may have come to the foreground. */
void ep_run_down_wake(struct run_down *down);
/* A process is over and took so many bytes of the launcher's stdin. */
void ep_run_down_took(struct run_down *down, uint32_t rank,
                      uint64_t taken_bytes);
/* Bytes of it that were sent. */
uint64_t ep_run_down_sent(const struct run_down *down);
/* Nothing more will be taken: the rest of stdin is for others. */
void ep_run_down_give_back(struct run_down *down);

#endif
