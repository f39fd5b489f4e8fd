/* Nodes that are lost: what becomes of the job. */
#ifndef ENDPOINTS_RUN_LOSS_H
#define ENDPOINTS_RUN_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* The tree has given a node up: says so, ends its channels, counts it as final,
 * and ends the job unless the others are to go on. Again: does nothing.
 * O(ranks) for the job's description. */
void ep_run_lost(struct run *r, uint32_t node);

/* The run goes on without a node: so do a dvm, whose jobs may end, and what has
 * been asked to. */
bool ep_run_bears_loss(const struct run *r);

#endif
