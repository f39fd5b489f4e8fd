/* Clients that look at a job: they get a copy of its output, and push to its
 * stdin. Or they start one (job/request.h), which is theirs: what they name of
 * its output comes from the first byte on, it waits while they do not take that
 * where they ask for it, and it ends with them unless it is to be kept. Others
 * watch the session (watchers.h).
 *
 * They are a tap of the launcher (endpoints/client/taps.h) that never holds a
 * record: what a client takes is sent from where it lies, or copied to its
 * outbox; where that is full the record is dropped, or what is left of it, and
 * the next one of the channel says how much. Of that, and of the ends of
 * channels, it is told in any case, as soon as it has read something. What was
 * written before a client came is asked of the daemons (job/late.h). One that
 * takes output in the place of the console is served from a store
 * (endpoints/client/escrow.h), and nothing of that is dropped; so is one that
 * names a limit for its copies.
 *
 * The door owns this, from its first launch to the last; each launch opens the
 * tap anew. Who comes before that waits; who looks at a job when a launch is
 * done again is told to come again. All in the loop's thread.
 *
 * Memory: for each client that is slow 4 MiB and 64 KiB of words, 16 MiB for
 * all and 128 KiB of each beyond that; for one whose job waits 1 MiB and what
 * is on its way in the tree when the job is held back, 64 MiB at most. For each
 * process of a job a byte, and for each client that looks at it one more, while
 * it waits for what was before another one, and 24 where something was dropped.
 * 8 bytes for each range that a client names.
 */
#ifndef ENDPOINTS_CLIENT_VIEWERS_H
#define ENDPOINTS_CLIENT_VIEWERS_H

#include <stdbool.h>

#include "endpoints/client/taps.h"
#include "job/door.h"

struct ep_viewer;
struct ep_viewers;
struct ep_watchers;

/* Its cfg.self is the struct ep_viewers; NULL: there is no tap. */
extern const struct ep_tap_ops ep_viewers_tap;

struct ep_viewer_events {
    /* The client is to go, and why; NULL: without a word. From the tap, never
     * from within a call of its own. The viewer is closed already. */
    void (*on_cut)(void *arg, const char *why);
};

/* NULL: out of memory. */
struct ep_viewers *ep_viewers_new(void);
/* The next close of the tap is not the end of the session. NULL is fine. */
void ep_viewers_anew(struct ep_viewers *all);
/* The tap is closed, and no viewer is left. NULL is fine. */
void ep_viewers_free(struct ep_viewers *all);

/* Those that watch (watchers.h); borrowed. */
struct ep_watchers *ep_viewers_watchers(struct ep_viewers *all);

/* The client behind this socket, which is borrowed, wants to attach to the job
 * of this name ("": the only one): it is told of it, at once or when the tap is
 * open. NULL: it cannot, and `why` (JOB_DOOR_TEXT_MAX bytes) says why. */
struct ep_viewer *ep_viewer_open(struct ep_viewers *all, int fd,
                                 const char *name,
                                 const struct ep_viewer_events *events,
                                 void *arg, char *why);
/* The client behind it wants to start a job: what it says is next. NULL: out of
 * memory. */
struct ep_viewer *ep_viewer_ask(struct ep_viewers *all, int fd,
                                const struct ep_viewer_events *events,
                                void *arg);
void ep_viewer_close(struct ep_viewer *viewer);
/* What it says from then on. NULL, or what is wrong with it: it is to go. */
const char *ep_viewer_hear(struct ep_viewer *viewer,
                           const struct job_door *msg);

#endif
