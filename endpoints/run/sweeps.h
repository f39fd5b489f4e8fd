/* Hosts whose daemon is lost: what it has left there is ended by `xylemd
 * --sweep', which is started in the way the daemon was.
 *
 * A sweep begins when a node is given up; 64 hosts are swept at a time, each
 * within ten seconds. At the end of the run the hosts follow whose processes
 * are not known to have ended, and all sweeps are waited for, thirty seconds at
 * most. They are started by a spawner of their own, as the launcher's may be
 * what has died.
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
    uint32_t daemons; /* how many share the nodes, when these are virtual */
    bool (*is_lost)(void *arg, uint32_t node);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. No process is started before the first sweep. */
int ep_run_sweeps_open(const struct run_sweeps_cfg *cfg,
                       struct run_sweeps **out);
/* NULL is fine. */
void ep_run_sweeps_close(struct run_sweeps *all);

/* This node was given up. Its daemon is lost too, unless it hosts other nodes
 * that are not. O(nodes of the daemon). */
void ep_run_sweep_lost(struct run_sweeps *all, uint32_t node);
/* Sweeps the host for the daemon of this node, once. O(1). */
void ep_run_sweep(struct run_sweeps *all, uint32_t node);

/* Waits until all sweeps are done, and runs the loop meanwhile; a signal that
 * ends a run ends the waiting. Returns the hosts that were not reached, folded,
 * to be freed; NULL: all were reached. */
char *ep_run_sweeps_end(struct run_sweeps *all);

#endif
