/* Nodes that are lost: what becomes of the job. */
#ifndef ENDPOINTS_RUN_LOSS_H
#define ENDPOINTS_RUN_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Once it is known how many daemons there are. Returns 0 or OV_ENOMEM. */
int ep_run_loss_open(struct run *r);
void ep_run_loss_close(struct run *r);

/* The tree has given a node up: says so, ends its channels, counts it as final,
 * and ends the job unless the others are to go on. Again: does nothing.
 * O(ranks) for the job's description. */
void ep_run_lost(struct run *r, uint32_t node);

/* The run goes on without a node: so do a dvm, whose jobs may end, and what has
 * been asked to. */
bool ep_run_bears_loss(const struct run *r);

/* At the end of the run: what lost nodes may have left on their hosts is ended,
 * on those of nodes that are not final as well, and on all where the spawner of
 * the daemons has died: none of them may have said goodbye. Waits for it
 * (sweeps.h), and names the hosts that were not reached. */
void ep_run_loss_sweep(struct run *r);

#endif
