/* Tells the nodes which output of further jobs they have to send up the tree
 * and which to drop. job/subscription.h decides this. */
#ifndef ENDPOINTS_RUN_SUBSCRIPTION_H
#define ENDPOINTS_RUN_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

struct run;
struct run_job;

/* Notes a record of the job that has arrived. When no client wants such output,
 * this may tell the nodes to drop it. O(1), or O(size) when the nodes are
 * told. */
void ep_run_subscription_record(struct run_job *job, uint32_t rank,
                                uint8_t channel, uint32_t len_bytes);
/* Has the nodes send output of the job that a client wants now and that they
 * have dropped so far. Returns whether nodes were told so. O(size). */
bool ep_run_subscription_wanted(struct run_job *job);

/* Has the nodes stop reading the output of these processes for now (is_held),
 * or go on reading it. O(1). */
void ep_run_subscription_hold(struct run *r, const struct topo_range *range,
                              bool is_held);

#endif
