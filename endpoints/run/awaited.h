/* Tells the user which hosts a launch waits for, or was waiting for when it
 * ended.
 *
 * The launch waits for the nodes that have not joined the tree. When a node has
 * not joined, the nodes beneath it cannot join either, so only the hosts
 * nearest to the root are named; all nodes that have not joined are counted. A
 * launch on this machine alone writes nothing, as there is no host to name.
 */
#ifndef ENDPOINTS_RUN_AWAITED_H
#define ENDPOINTS_RUN_AWAITED_H

#include <stddef.h>
#include <stdint.h>

struct ep_hub;
struct run_launch;
struct run_plan;

/* In all functions the hub is the launcher's own; as long as it is NULL, no
 * node has joined. Messages are written by the voice of the plan. All functions
 * are O(nodes). */

/* Returns the hosts to be named, in the order of the user's list, folded to
 * about max_bytes at most, which the caller frees; NULL when there is none or
 * memory is out. Sets *count to how many nodes have not joined. */
char *ep_run_awaited_list(const struct run_plan *plan, const struct ep_hub *hub,
                          size_t max_bytes, uint32_t *count);
/* Tells the user, waited_s seconds after the launch began, which hosts it waits
 * for; not in the first two seconds. Returns the age of the launch, in seconds,
 * at which this must be called again: three times the present age, or a minute
 * more than that age, if that is less. */
unsigned ep_run_awaited_wait(const struct run_plan *plan,
                             const struct ep_hub *hub, unsigned waited_s);
/* Tells the user which hosts the launch was waiting for when the user or a time
 * limit ended it. */
void ep_run_awaited_ended(const struct run_plan *plan,
                          const struct ep_hub *hub);
/* Called after a launch has failed because of daemons that the user has been
 * told about. Tells the user how many hosts were not tried, if any: the daemon
 * above each of them would have started it, and has not connected. Writes
 * nothing when another launch follows. O(nodes * missing daemons). */
void ep_run_awaited_failed(const struct run_plan *plan,
                           const struct ep_hub *hub,
                           const struct run_launch *launch);

#endif
