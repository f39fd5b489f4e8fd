/* A stream of stdin on one node, and the feeds of the jobs that it is for.
 *
 * Frames come in order, each for one job; the launcher ensures that. A job that
 * has readers here has an inlet with a feed of its own (feed.h), so that frames
 * waiting for it do not mix with frames waiting for other jobs. A frame for
 * some processes that names none is for the job of the frame before it. A frame
 * for all processes is for the first job: only the run's own job has such
 * frames. A frame for a job without an inlet is consumed at once.
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
    /* The first frames_total frames are consumed. Process `proc` is furthest
     * behind with the next frame; TOPO_NONE: none is. Called from the event
     * loop, and from within ep_stdin_stream_take() and ep_inlet_close(); must
     * not call any function of this header. */
    void (*on_consumed)(void *arg, uint64_t frames_total, uint32_t proc);
    /* These two are called like those of struct ep_feed_events. */
    void (*on_free)(void *arg, struct ov_buf *buf);
    void (*on_slow)(void *arg, uint32_t proc, enum job_stdin_event what,
                    int err);
};

/* Opens a stream without inlets. Borrows base and events. Returns 0 or
 * OV_ENOMEM. */
int ep_stdin_stream_open(struct event_base *base,
                         const struct ep_stdin_stream_events *events, void *arg,
                         struct ep_stdin_stream **out);
/* Closes the stream and its inlets, without callbacks except on_free. NULL is
 * fine. */
void ep_stdin_stream_close(struct ep_stdin_stream *stdin_stream);

/* Opens an inlet for a job with these processes. Frames for them that come from
 * now on are pushed to its feed; the caller adds the processes to that feed.
 * Returns 0 or OV_ENOMEM. */
int ep_inlet_open(struct ep_stdin_stream *stdin_stream, struct topo_range procs,
                  struct ep_inlet **out);
/* Closes the inlet, when none of its processes reads any longer. NULL is
 * fine. */
void ep_inlet_close(struct ep_inlet *inlet);
/* Returns the feed of an inlet; borrowed. */
struct ep_feed *ep_inlet_feed(const struct ep_inlet *inlet);

/* Takes the next frame, and a reference to its buffer when it is needed; flags
 * as in overlay/wire/frame.h. */
void ep_stdin_stream_take(struct ep_stdin_stream *stdin_stream,
                          const struct ov_slice *slice, uint32_t flags);

/* Calls ep_feed_pause() for the feeds of all inlets. */
void ep_stdin_stream_pause(struct ep_stdin_stream *stdin_stream,
                           bool is_paused);

#endif
