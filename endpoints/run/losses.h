/* Messages about lost nodes. Nodes that are lost at nearly the same time, as
 * when all hosts of a cabinet fail, share one line that lists their names in
 * short form.
 */
#ifndef ENDPOINTS_RUN_LOSSES_H
#define ENDPOINTS_RUN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct run_losses;
struct run_plan;

/* Both arguments are borrowed; messages are written by the plan's voice.
 * Returns 0 or OV_ENOMEM.
 */
int ep_run_losses_open(const struct run_plan *plan, struct event_base *base,
                       struct run_losses **out);
/* Closes it. Messages that are not written yet are dropped. NULL is fine. */
void ep_run_losses_close(struct run_losses *losses);

/* Adds the message about a lost node. goes_on: the job goes on without the
 * node; otherwise the loss ends the job. is_news: the job had not ended before;
 * otherwise the message is written only with --verbose. A loss that ends the
 * job is reported at once, other losses within LOSSES_MS. O(1). */
void ep_run_losses_add(struct run_losses *losses, uint32_t node, bool goes_on,
                       bool is_news);

/* Writes the messages that wait. O(n log n) for n nodes, and the size of the
 * job's description. NULL is fine. */
void ep_run_losses_tell(struct run_losses *losses);

/* Reports that a daemon cannot go on, for the reason that it gives in `text`.
 * `nodes` are the nodes that it hosts, in ascending order; without nodes, it is
 * not known which daemon failed. */
void ep_run_losses_failed(const struct run_plan *plan, const uint32_t *nodes,
                          uint32_t count, const char *text);

#endif
