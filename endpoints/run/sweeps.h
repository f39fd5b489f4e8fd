/* Hosts on which nobody of xylem may be left: what the lost daemon has left
 * there is ended, by `xylemd --sweep', which is started as the daemon was.
 *
 * That begins when a node is given up, on 64 hosts at a time, each within ten
 * seconds. At the end of the run nodes follow whose processes are not known to
 * have ended, and all of it is waited for, thirty seconds at most. A spawner of
 * its own starts it, as the launcher's may be what has died.
 */
#ifndef ENDPOINTS_RUN_SWEEPS_H
#define ENDPOINTS_RUN_SWEEPS_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct run_plan;
struct run_signals;
struct run_sweeps;

struct run_sweeps_cfg {
    const struct run_plan *plan; /* borrowed, as the next two */
    struct event_base *base;
    const struct run_signals *signals;
    uint32_t daemons; /* that share the nodes, where these are virtual */
    bool (*is_lost)(void *arg, uint32_t node);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. Nothing runs before the first sweep. */
int ep_run_sweeps_open(const struct run_sweeps_cfg *cfg,
                       struct run_sweeps **out);
/* NULL is fine. */
void ep_run_sweeps_close(struct run_sweeps *all);

/* This node was given up: its daemon is lost, unless it hosts others that are
 * not. O(nodes of the daemon). */
void ep_run_sweep_lost(struct run_sweeps *all, uint32_t node);
/* Sweeps for the daemon of this node, once. O(1). */
void ep_run_sweep(struct run_sweeps *all, uint32_t node);

/* Waits until all is done, and runs the loop meanwhile; a signal that ends a
 * run ends the waiting. Returns the hosts that were not reached, in short, to
 * be freed; NULL: there are none. */
char *ep_run_sweeps_end(struct run_sweeps *all);

#endif
