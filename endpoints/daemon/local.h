/* The processes of one node: started, fed, read, ended.
 *
 * Input 0 of the node is what the node itself has to say
 * (endpoints/msg/state.h), inputs 1 + 2p and 2 + 2p are stdout and stderr of
 * its p-th process. A process's exit is said after its output: when both
 * channels have ended, or a while (linger) after its exit and its last byte.
 * The final record follows the last exit.
 */
#ifndef ENDPOINTS_DAEMON_LOCAL_H
#define ENDPOINTS_DAEMON_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/daemon/binding.h"
#include "endpoints/hub/hub.h"
#include "endpoints/msg/job.h"
#include "endpoints/msg/state.h"

struct ep_local;
struct ep_spawner;
struct ep_writer;

struct ep_local_cfg {
    struct event_base *base; /* all borrowed */
    struct ep_hub *hub;
    struct ep_spawner *spawner;
    uint32_t index; /* of the node in the hub */
    uint32_t node;
    uint32_t nodes;         /* of this daemon */
    uint32_t window_frames; /* of stdin */
    struct ep_writer *writer;
    /* This node's processes are over. True when it was the last of its
     * daemon: it then speaks for it and says what the daemon has used. */
    bool (*on_over)(void *arg, struct ep_usage *usage);
    void *arg;
};

/* Inputs that a node with so many processes has. */
static inline uint32_t ep_local_inputs(uint32_t procs)
{
    return 1 + 2 * procs;
}

/* Returns 0 or OV_ENOMEM. */
int ep_local_open(const struct ep_local_cfg *cfg, struct ep_local **out);
void ep_local_close(struct ep_local *local);

/* The spawner's number for a program of a job. */
static inline uint32_t ep_local_app(const struct ep_job *job, uint32_t app)
{
    return job->number * EP_JOB_APPS_MAX + app;
}

/* Starts the node's processes of a job, once; the job and the binding
 * are borrowed, its programs were announced to the spawner, as ep_local_app has
 * it. They are the spawner's processes proc_first and following. One that
 * cannot be started is a word (FAILED), not an error. Returns 0 or OV_ENOMEM.
 */
int ep_local_begin(struct ep_local *local, const struct ep_job *job,
                   const struct ep_binding *binding, uint32_t proc_first);

/* OV_ACT_READ: input below ep_local_inputs(). */
void ep_local_read(struct ep_local *local, uint16_t input, uint32_t max_bytes,
                   struct ov_read *read);

/* A frame of stdin; one reference passes. */
void ep_local_feed(struct ep_local *local, const struct ov_slice *slice,
                   uint32_t flags);

/* The processes are told to stop, or to go on. */
void ep_local_pause(struct ep_local *local, bool is_paused);

/* The node has a word to say. */
void ep_local_say(struct ep_local *local, const struct ep_state *state);

/* From the spawner; `proc` counts from proc_first. */
void ep_local_started(struct ep_local *local);
void ep_local_failed(struct ep_local *local, uint32_t proc, const char *step,
                     int err);
void ep_local_exited(struct ep_local *local, uint32_t proc, int status);

/* How many processes there are; whether all that they and the node had to
 * say was read. */
uint32_t ep_local_procs(const struct ep_local *local);
/* The rank of one, which counts from 0. */
uint32_t ep_local_rank(const struct ep_local *local, uint32_t proc);
bool ep_local_is_final(const struct ep_local *local);

#endif
