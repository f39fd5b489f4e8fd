/* A stream of stdin on one node, and the feeds of the jobs that it is for.
 *
 * Frames come in order, each for one job: the launcher sees to that. A job that
 * has readers here has an inlet with a feed of its own (feed.h), so that what
 * waits for it is apart from what waits for others. A frame for some processes
 * that names none is for the job of the frame before it. A frame for all is for
 * the first job, as only the run's own job has such frames. A frame without an
 * inlet is consumed at once.
 *
 * Bounds: 8 bytes for each frame of the stream's window. Feeding is O(inlets).
 */
#ifndef ENDPOINTS_DAEMON_STDIN_STREAM_H
#define ENDPOINTS_DAEMON_STDIN_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "job/word.h"
#include "overlay/event.h"
#include "topo/tree.h"

struct ep_feed;
struct ep_inlet;
struct ep_stdin_stream;
struct event_base;

struct ep_stdin_stream_events {
    /* The first frames_total frames are consumed, and this process is furthest
     * behind with the next one; TOPO_NONE: no process is. Called from the event
     * loop, and from within ep_stdin_stream_take() and ep_inlet_close(); may
     * call nothing here. */
    void (*on_consumed)(void *arg, uint64_t frames_total, uint32_t proc);
    /* These are called as those of struct ep_feed_events. */
    void (*on_free)(void *arg, struct ov_buf *buf);
    void (*on_slow)(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err);
};

/* Borrows base and events. Returns 0 or OV_ENOMEM. */
int ep_stdin_stream_open(struct event_base *base,
                         const struct ep_stdin_stream_events *events, void *arg,
                         struct ep_stdin_stream **out);
/* Closes its inlets, without callbacks except on_free. NULL is fine. */
void ep_stdin_stream_close(struct ep_stdin_stream *stdin_stream);

/* Opens an inlet for a job with these processes. What comes for them from now
 * on goes into its feed; the caller adds the processes to that. Returns 0 or
 * OV_ENOMEM. */
int ep_inlet_open(struct ep_stdin_stream *stdin_stream, struct topo_range procs,
                  struct ep_inlet **out);
/* Ends the inlet: none of its processes reads any longer. NULL is fine. */
void ep_inlet_close(struct ep_inlet *inlet);
/* The feed of an inlet; borrowed. */
struct ep_feed *ep_inlet_feed(const struct ep_inlet *inlet);

/* Takes the next frame, with a reference to its buffer where that is needed;
 * flags as in overlay/wire/frame.h. */
void ep_stdin_stream_take(struct ep_stdin_stream *stdin_stream,
                          const struct ov_slice *slice, uint32_t flags);

/* Calls ep_feed_pause() for all feeds. */
void ep_stdin_stream_pause(struct ep_stdin_stream *stdin_stream,
                           bool is_paused);

#endif
