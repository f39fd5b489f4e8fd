/* The launch of a run: its daemons, from their start until they go.
 *
 * Daemons are started as the plan says, and told where their ancestors listen;
 * the user is told about those that do not come (missing.h). Everything runs in
 * the thread of the event base.
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

/* These are called from the loop; `self` also from ep_run_launch_connect(), and
 * `failed` from ep_run_launch_open(). None of them may close the launch. */
struct run_launch_events {
    /* Fills in where the launcher itself listens. */
    void (*self)(void *arg, struct ep_boot_peer *out);
    /* The launch cannot succeed, or the spawner has died. The user has been
     * told, and the run is to end. */
    void (*failed)(void *arg);
    /* A daemon has failed after the job had begun. The user has been told. */
    void (*on_broken)(void *arg);
    /* The last daemon that the launcher has started is gone. */
    void (*on_gone)(void *arg);
};

struct run_launch_cfg {
    struct run_plan *plan;             /* borrowed, like all pointers here */
    const struct job_session *session; /* says what is worth telling */
    struct event_base *base;
    struct ep_spawner *spawner; /* used for the daemons alone */
    const struct run_launch_events *events;
    void *arg;
};

/* Starts the daemons. Returns 0, or the exit code after a message on stderr; in
 * both cases *out is to be closed. */
int ep_run_launch_open(const struct run_launch_cfg *cfg,
                       struct run_launch **out);
void ep_run_launch_close(struct run_launch *launch); /* NULL is fine */

/* The launcher listens: tells its address to the daemons that wait for it. */
void ep_run_launch_connect(struct run_launch *launch);
/* The node was lost before the job began. */
void ep_run_launch_lost(struct run_launch *launch, uint32_t node);
/* Every node has joined. */
void ep_run_launch_joined(struct run_launch *launch);
/* Lets the daemons go. */
void ep_run_launch_leave(struct run_launch *launch);

/* Tells whether some daemons are known not to come. */
bool ep_run_launch_misses(const struct run_launch *launch);
/* Tells whether a daemon is alive that the launcher has started. */
bool ep_run_launch_is_alive(const struct run_launch *launch);
/* The spawner has died, so that no end of a daemon is heard. */
bool ep_run_launch_is_deaf(const struct run_launch *launch);

#endif
