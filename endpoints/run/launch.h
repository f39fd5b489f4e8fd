/* The launch of a run: its daemons, from when they are started until they go.
 *
 * They are started as the plan says, told where their ancestors listen, and
 * those that do not come are told of (missing.h). All happens in the thread of
 * the event base.
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

/* They come from the loop; self also from ep_run_launch_connect, and failed
 * from ep_run_launch_open. None may close the launch. */
struct run_launch_events {
    /* Where the launcher itself listens. */
    void (*self)(void *arg, struct ep_boot_peer *out);
    /* The launch cannot succeed, or the spawner has died: the user has been
     * told, and the run is to end. */
    void (*failed)(void *arg);
    /* A daemon has failed with which the job had begun, as was told. */
    void (*on_broken)(void *arg);
    /* The last daemon that the launcher has started has gone. */
    void (*on_gone)(void *arg);
};

struct run_launch_cfg {
    struct run_plan *plan;             /* borrowed, as all */
    const struct job_session *session; /* what is so counts for what is told */
    struct event_base *base;
    struct ep_spawner *spawner; /* of the daemons alone */
    const struct run_launch_events *events;
    void *arg;
};

/* Starts them. Returns 0, or the exit code after words on stderr; in both cases
 * *out is to be closed. */
int ep_run_launch_open(const struct run_launch_cfg *cfg,
                       struct run_launch **out);
void ep_run_launch_close(struct run_launch *launch); /* NULL is fine */

/* The launcher listens: daemons that wait for its address get it. */
void ep_run_launch_connect(struct run_launch *launch);
/* The node was lost before the job began. */
void ep_run_launch_lost(struct run_launch *launch, uint32_t node);
/* Every node has joined. */
void ep_run_launch_joined(struct run_launch *launch);
/* They are let go. */
void ep_run_launch_leave(struct run_launch *launch);

/* Are some known not to come? */
bool ep_run_launch_misses(const struct run_launch *launch);
/* Is there a daemon that the launcher has started? */
bool ep_run_launch_is_alive(const struct run_launch *launch);
/* The spawner has died: no end of a daemon is heard of. */
bool ep_run_launch_is_deaf(const struct run_launch *launch);

#endif
