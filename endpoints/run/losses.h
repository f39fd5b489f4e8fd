/* Messages about lost nodes. Nodes that are lost within a moment, as all hosts
 * of a cabinet are, share one line that folds their names.
 */
#ifndef ENDPOINTS_RUN_LOSSES_H
#define ENDPOINTS_RUN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct run_losses;
struct run_plan;

/* Both are borrowed; messages go to the plan's voice. Returns 0 or OV_ENOMEM.
 */
int ep_run_losses_open(const struct run_plan *plan, struct event_base *base,
                       struct run_losses **out);
/* Drops the messages that were not given yet. NULL is fine. */
void ep_run_losses_close(struct run_losses *losses);

/* A node is lost. goes_on: the job goes on without it; otherwise it ends
 * because of it. is_news: the job had not ended before; otherwise only
 * --verbose tells it. A loss that ends the job is told at once, others within
 * LOSSES_MS. O(1). */
void ep_run_losses_add(struct run_losses *losses, uint32_t node, bool goes_on,
                       bool is_news);

/* Gives the messages that are due. O(n log n) for n nodes, and the job's
 * description. NULL is fine. */
void ep_run_losses_tell(struct run_losses *losses);

/* A daemon, which hosts these nodes in ascending order, has said that it cannot
 * go on, and why. Without nodes: it is not known which daemon. */
void ep_run_losses_failed(const struct run_plan *plan, const uint32_t *nodes,
                          uint32_t count, const char *text);

#endif
