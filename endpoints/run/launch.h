/* The launch of a run: starts the daemons and follows them until they end.
 *
 * Daemons are started as the plan says, and the launcher tells each where its
 * ancestors listen. It tells the user about daemons that do not connect
 * (missing.h). Everything runs in the thread of the event base.
 */
#ifndef ENDPOINTS_RUN_LAUNCH_H
#define ENDPOINTS_RUN_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "job/session.h"

struct event_base;
struct ep_spawner;
struct run_launch;
struct run_plan;

/* The event loop calls these. ep_run_launch_connect() may also call `self`, and
 * ep_run_launch_open() may call `failed`. None of them may close the launch. */
struct run_launch_events {
    /* Fills in the address at which the launcher itself listens. */
    void (*self)(void *arg, struct ep_boot_peer *out);
    /* The launch cannot succeed, or the spawner has died. The user knows why.
     * The callee ends the run. */
    void (*failed)(void *arg);
    /* A daemon has failed after the job had begun. The user knows why. */
    void (*on_broken)(void *arg);
    /* The last of the daemons that the launcher has started has ended. */
    void (*on_gone)(void *arg);
};

struct run_launch_cfg {
    struct run_plan *plan; /* borrowed, like all pointers of this struct */
    /* the state of the session, which decides what is reported */
    const struct job_session *session;
    struct event_base *base;
    struct ep_spawner *spawner; /* used only to start the daemons */
    const struct run_launch_events *events;
    void *arg;
};

/* Starts the daemons. Returns 0, or the exit code after a message on stderr; in
 * both cases the caller must close *out. */
int ep_run_launch_open(const struct run_launch_cfg *cfg,
                       struct run_launch **out);
void ep_run_launch_close(struct run_launch *launch); /* NULL is fine */

/* Sends the launcher's address to the daemons that wait for it. To be called
 * when the launcher listens. */
void ep_run_launch_connect(struct run_launch *launch);
/* Notes that a node was lost before the job began. */
void ep_run_launch_lost(struct run_launch *launch, uint32_t node);
/* Notes that every node has joined: the daemons are complete. */
void ep_run_launch_joined(struct run_launch *launch);
/* Tells the daemons that they may end. */
void ep_run_launch_leave(struct run_launch *launch);

/* Tells whether it is known that some daemons will not connect. */
bool ep_run_launch_misses(const struct run_launch *launch);
/* Tells whether the start of this node's daemon was tried, as far as the
 * launcher knows before the node joins. O(missing daemons). */
bool ep_run_launch_has_tried(const struct run_launch *launch, uint32_t node);
/* Tells whether any daemon that the launcher has started is alive. */
bool ep_run_launch_is_alive(const struct run_launch *launch);
/* Tells whether the spawner has died, so that the launcher does not notice when
 * daemons end. */
bool ep_run_launch_is_deaf(const struct run_launch *launch);

#endif
