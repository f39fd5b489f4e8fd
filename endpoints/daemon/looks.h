/* Looks at the processes of a daemon: at all of them, when the launcher asks
 * what some are doing, and again and again while a job is watched for progress.
 *
 * A look reads /proc in the shared thread of the daemon's writer. Two looks at
 * least 100 ms apart show who computes, so an answer takes that long. While
 * jobs are watched looks follow one another as job/stall.h says.
 */
#ifndef ENDPOINTS_DAEMON_LOOKS_H
#define ENDPOINTS_DAEMON_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_looks;
struct ep_processes;
struct ep_writer;
struct event_base;
struct job_order;

struct ep_looks_cfg {
    struct event_base *base; /* all pointers are borrowed */
    struct ep_writer *writer;
    uint32_t nodes_count;
    /* The processes of a node of the daemon. */
    struct ep_processes *(*node)(void *arg, uint32_t index);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_looks_open(const struct ep_looks_cfg *cfg, struct ep_looks **out);
void ep_looks_close(struct ep_looks *looks); /* NULL is fine */

/* Follows a LOOK order of a node: the node reports what these processes are
 * doing, in DOING messages. Processes that are over are left out. */
void ep_looks_ask(struct ep_looks *looks, uint32_t index,
                  const struct job_order *order);

/* Begins to watch. Looks end when no process is watched any longer, or all that
 * are watched are paused (job/stall.h). */
void ep_looks_watch(struct ep_looks *looks);

#endif
