/* The words on nodes that are lost: those lost within a moment, as all hosts of
 * a cabinet are, are told in one line that folds their names.
 */
#ifndef ENDPOINTS_RUN_LOSSES_H
#define ENDPOINTS_RUN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct run_losses;
struct run_plan;

/* Both are borrowed; the plan's voice is spoken with. Returns 0 or OV_ENOMEM.
 */
int ep_run_losses_open(const struct run_plan *plan, struct event_base *base,
                       struct run_losses **out);
/* What is not told is not told any more. NULL is fine. */
void ep_run_losses_close(struct run_losses *losses);

/* A node is lost. goes_on: the job goes on without it, else it ends for it.
 * is_news: the job had not ended before; else only --verbose tells it. What
 * ends the job is told at once, the rest LOSSES_MS later at the latest. Cost:
 * O(1). */
void ep_run_losses_add(struct run_losses *losses, uint32_t node, bool goes_on,
                       bool is_news);

/* Tells those that are not told yet. O(n log n) for n nodes, and the job's
 * description. NULL is fine. */
void ep_run_losses_tell(struct run_losses *losses);

/* One daemon, that of these nodes in ascending order, has said that it cannot
 * go on, and why. None: nobody knows which. */
void ep_run_losses_failed(const struct run_plan *plan, const uint32_t *nodes,
                          uint32_t count, const char *text);

#endif
