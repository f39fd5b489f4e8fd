/* Sweeps of hosts whose daemon is lost: a sweep starts `xylemd --sweep' on the
 * host, in the way in which the daemon was started, and ends the processes that
 * the daemon has left there.
 *
 * A sweep begins when a node is given up. At most 64 hosts are swept at a time,
 * each for at most ten seconds. At the end of the run, hosts are swept whose
 * processes are not known to have ended, and the launcher waits for all sweeps,
 * thirty seconds at most. The sweeps have a spawner of their own, because the
 * launcher's spawner may be what has died.
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
    const struct run_plan *plan; /* borrowed, like the next two */
    struct event_base *base;
    const struct run_signals *signals;
    uint32_t daemons; /* how many daemons share virtual nodes */
    bool (*is_lost)(void *arg, uint32_t node);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. No process is started before the first sweep. */
int ep_run_sweeps_open(const struct run_sweeps_cfg *cfg,
                       struct run_sweeps **out);
/* NULL is fine. */
void ep_run_sweeps_close(struct run_sweeps *all);

/* Notes that this node was given up, and sweeps its host if its daemon is lost.
 * The daemon is lost unless it hosts another node that is not lost. O(nodes of
 * the daemon). */
void ep_run_sweep_lost(struct run_sweeps *all, uint32_t node);
/* Sweeps the host of this node's daemon, unless this was done before. O(1). */
void ep_run_sweep(struct run_sweeps *all, uint32_t node);

/* Runs the event loop until all sweeps are done, or a signal that ends the run
 * comes. Returns the names of the hosts that were not reached, as a shortened
 * list that the caller frees; NULL when all were reached. */
char *ep_run_sweeps_end(struct run_sweeps *all);

#endif
