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

#include <stdint.h>

struct run;

/* The daemon of this node is lost; others of its nodes may have told that. */
void ep_run_sweep(struct run *r, uint32_t node);

/* Waits until it is done, runs the loop meanwhile, and names the hosts that
 * were not reached. A signal that ends a run ends the waiting. */
void ep_run_sweeps_end(struct run *r);

void ep_run_sweeps_close(struct run *r);

#endif
