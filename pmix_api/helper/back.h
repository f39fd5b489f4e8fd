/* Redirected output that goes back to the launcher: its pull is over.
 *
 * That is said with STOP. What is redirected is for the pull until the launcher
 * answers: some of it is still under way. It waits in the pull's queue behind
 * what the tool has not been given, and all of that goes back, in order, as the
 * launcher takes it; behind it goes END. While that lasts the launcher shows
 * nothing new of these channels.
 *
 * When a tool has died, the launcher gives back what it keeps itself
 * (settle.h): END says from where on, which may be a little before what the
 * tool has not read. Not when the tool had deregistered, and had read all that
 * it was given: what waits is all that goes back, and nothing comes twice. Nor
 * when some has gone back already: that tool was there when it did, and had
 * deregistered; what it has not read of what it was sent before goes down with
 * it.
 *
 * Where another tool redirects a channel, too, that has what came since it
 * does: only what is older goes back.
 *
 * All of it under the lock of the pulls, unless it says that it locks them.
 */
#ifndef PMIX_API_HELPER_BACK_H
#define PMIX_API_HELPER_BACK_H

#include <stdbool.h>
#include <stdint.h>

struct pull;
struct px_output;

/* A pull that is over: goes on with it. False when END is due, with the bytes
 * that nobody has, in *lost. */
bool px_back_step(struct pull *pulls, struct pull *pull, uint64_t *lost_bytes);

/* Is what it redirects to go back? */
bool px_back_is_due(const struct pull *pull);

/* Output for a pull that is over: true when it was kept. */
bool px_back_put(struct pull *pull, const struct px_output *output);

/* Redirected output: has another pull it, too, which is not behind? */
bool px_back_is_with_other(const struct pull *pulls, const struct pull *pull,
                           const struct px_output *output);

/* The launcher has answered; it can take one more. Both lock the pulls. */
void px_back_stopped(uint32_t pull);
void px_back_taken(void);

/* The library could not give so many redirected bytes to this request. Locks
 * the pulls. */
void px_back_lost(const void *request, uint64_t bytes);
/* The tool has gone, and what was in its socket with it; or it takes nothing,
 * and the helper goes. The launcher has all that the tool has not read, or was
 * not sent, and gives that back, unless some went back already; without that,
 * what the library has for it is lost. Under the lock;
 * but where it is gone in the main thread alone. */
void px_back_forsake(struct pull *pull, bool is_gone);

/* Some is still to go back. Locks the pulls. */
bool px_back_is_busy(void);

#endif
