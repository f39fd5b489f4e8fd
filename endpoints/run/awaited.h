/* Tells the user whom a launch waits for, or had waited for when it ended.
 *
 * The launch waits for the nodes that have not joined the tree. Where one of
 * them has not joined, those beneath it cannot join either, so only the hosts
 * at the top are named; all nodes that have not joined are counted. A launch on
 * this machine alone says nothing, as there is no host to name.
 */
#ifndef ENDPOINTS_RUN_AWAITED_H
#define ENDPOINTS_RUN_AWAITED_H

#include <stddef.h>
#include <stdint.h>

struct ep_hub;
struct run_launch;
struct run_plan;

/* The hub is the launcher's own; as long as it is NULL, no node has joined.
 * Messages are written by the voice of the plan. All functions are O(nodes). */

/* Returns the hosts to be named, in the order of the user's list, folded to
 * about max_bytes at most, which the caller frees; NULL when there is none or
 * memory is out. Sets *count to how many nodes have not joined. */
char *ep_run_awaited_list(const struct run_plan *plan, const struct ep_hub *hub,
                          size_t max_bytes, uint32_t *count);
/* Tells, waited_s seconds after the launch began, whom it waits for; not in the
 * first two seconds. Returns how old the launch is when this is to be called
 * again: three times as old as now, or older by a minute, if that is less. */
unsigned ep_run_awaited_wait(const struct run_plan *plan,
                             const struct ep_hub *hub, unsigned waited_s);
/* Tells whom the launch has waited for until it was ended, by the user or by a
 * time limit. */
void ep_run_awaited_ended(const struct run_plan *plan,
                          const struct ep_hub *hub);
/* Tells, after a launch has failed because of daemons that the user has been
 * told of, how many hosts were not tried, if any: each would have been by the
 * daemon above it, which has not come. Says nothing when another launch
 * follows. O(nodes * missing daemons). */
void ep_run_awaited_failed(const struct run_plan *plan,
                           const struct ep_hub *hub,
                           const struct run_launch *launch);

#endif
