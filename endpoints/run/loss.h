/* Lost nodes, and what they mean for the job. */
#ifndef ENDPOINTS_RUN_LOSS_H
#define ENDPOINTS_RUN_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* To be called once the number of daemons is known. Returns 0 or OV_ENOMEM. */
int ep_run_loss_open(struct run *r);
void ep_run_loss_close(struct run *r);

/* The tree has given a node up: tells the user, ends the node's channels,
 * counts it as final, and ends the job unless the other nodes are to go on.
 * Does nothing when repeated. O(ranks) for the description of the job. */
void ep_run_lost(struct run *r, uint32_t node);

/* Tells whether the run goes on without a node. A dvm does, though its jobs may
 * end, and so does a run that was told to. */
bool ep_run_bears_loss(const struct run *r);

/* At the end of the run, ends what lost nodes may have left on their hosts, and
 * what is on the hosts of nodes that are not final; on all hosts when the
 * spawner of the daemons has died, as perhaps none of them was told goodbye.
 * Waits for it (sweeps.h), and names the hosts that were not reached. */
void ep_run_loss_sweep(struct run *r);

#endif
