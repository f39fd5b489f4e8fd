/* Tells the nodes which output of further jobs is to travel: job/subscription.h
 * decides. */
#ifndef ENDPOINTS_RUN_SUBSCRIPTION_H
#define ENDPOINTS_RUN_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

struct run;
struct run_job;

/* A record of the job came. O(1), or O(size) when the nodes are told
 * something. */
void ep_run_subscription_record(struct run_job *job, uint32_t rank,
                                uint8_t channel, uint32_t len_bytes);
/* A client wants more than before. Returns whether nodes are to hear of it.
 * O(size). */
bool ep_run_subscription_wanted(struct run_job *job);

/* These processes are to be read no further for now, or again. O(1). */
void ep_run_subscription_hold(struct run *r, const struct topo_range *range,
                              bool is_held);

#endif
