/* Clients that look at a job: they get a copy of its output, and push to its
 * stdin.
 *
 * They are a tap of the launcher (endpoints/client/taps.h) that never holds a
 * record: what a client takes is sent from where it lies, or copied to its
 * outbox; where that is full the record is dropped whole, and the next one of
 * the channel says how much. The end of a channel is told in any case, as soon
 * as there is room. What was written before a client came is asked of the
 * daemons (job/late.h).
 *
 * The door owns this, from its first launch to the last; each launch opens the
 * tap anew. Who comes before that waits. All in the loop's thread.
 *
 * Memory: 4 MiB for each client that is slow, 16 MiB for all; two bytes for
 * each process of the jobs, and 24 more where output of a job was dropped, for
 * each client that looks at it.
 */
#ifndef ENDPOINTS_CLIENT_VIEWERS_H
#define ENDPOINTS_CLIENT_VIEWERS_H

#include <stdbool.h>

#include "endpoints/client/taps.h"
#include "job/door.h"

struct ep_viewer;
struct ep_viewers;

/* Its cfg.self is the struct ep_viewers; NULL: there is no tap. */
extern const struct ep_tap_ops ep_viewers_tap;

struct ep_viewer_events {
    /* The client is to go, and why; NULL: without a word. From the tap, never
     * from within a call of its own. The viewer is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* NULL: out of memory. */
struct ep_viewers *ep_viewers_new(void);
/* The tap is closed, and no viewer is left. NULL is fine. */
void ep_viewers_free(struct ep_viewers *all);

/* The client behind this socket, which is borrowed, wants to attach to the job
 * of this name ("": the only one): it is told of it, at once or when the tap is
 * open. NULL: it cannot, and `why` (JOB_DOOR_TEXT_MAX bytes) says why. */
struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why);
void ep_viewer_close(struct ep_viewer *viewer);
/* What it says from then on. NULL, or what is wrong with it: it is to go. */
const char *ep_viewer_hear(struct ep_viewer *viewer,
                           const struct job_door *msg);

#endif
