/* The words on nodes that are lost: those lost within a moment, as all hosts of
 * a cabinet are, are told in one line that folds their names.
 */
#ifndef ENDPOINTS_RUN_LOSSES_H
#define ENDPOINTS_RUN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* A node is lost; the job goes on without it, or ends for it. What ends the job
 * is told at once, the rest LOSSES_MS later at the latest. Cost: O(1). */
void ep_run_losses_add(struct run *r, uint32_t node, bool goes_on);

/* One daemon, that of these nodes in ascending order, has said that it cannot
 * go on, and why. None: nobody knows which. */
void ep_run_losses_failed(struct run *r, const uint32_t *nodes, uint32_t count,
                          const char *text);

/* Tells those that are not told yet and frees them. O(n log n) for n nodes, and
 * the job's description. */
void ep_run_losses_tell(struct run *r);

#endif
