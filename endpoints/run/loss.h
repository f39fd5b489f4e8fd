/* What the launcher does about lost nodes, and what they mean for the job. */
#ifndef ENDPOINTS_RUN_LOSS_H
#define ENDPOINTS_RUN_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Opens r->loss, for lost nodes. To be called once the number of daemons is
 * known. Returns 0 or OV_ENOMEM. */
int ep_run_loss_open(struct run *r);
void ep_run_loss_close(struct run *r);

/* Handles the loss of a node that the tree has given up: tells the user, ends
 * the channels of the node's processes, counts the node as final, and ends the
 * job unless the other nodes are to go on. Does nothing when the node was lost
 * before. O(ranks) for the description of the job. */
void ep_run_lost(struct run *r, uint32_t node);

/* Tells whether the run goes on without a lost node. It does in a dvm, though
 * single jobs may end, and when the user has asked for it. */
bool ep_run_bears_loss(const struct run *r);

/* Ends processes that may be left on hosts at the end of the run: on the hosts
 * of lost nodes and of nodes that are not final; on all hosts when the spawner
 * of the daemons has died, as perhaps no daemon has received the goodbye. Waits
 * until this is done (sweeps.h), and names the hosts that were not reached to
 * the user. */
void ep_run_loss_sweep(struct run *r);

#endif
