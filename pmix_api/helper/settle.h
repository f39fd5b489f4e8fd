/* How far the output is that was redirected: what of it a tool has by now, and
 * has read. The launcher keeps the rest (share.h), for the case that the tool
 * dies, or we do. */
#ifndef PMIX_API_HELPER_SETTLE_H
#define PMIX_API_HELPER_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/share.h"

struct pull;

/* Once; borrowed. */
void px_settle_open(struct px_share *share);

/* The launcher keeps what is redirected. */
bool px_settle_is_kept(void);

/* Says of each pull that redirects, and has something to give back to, how far
 * it is. Returns when to look again at the latest, in ms; 0: no tool lacks
 * anything. The main thread. */
unsigned px_settle_all(void);

/* The tool has closed its end, and has read all that was in its socket. Locks
 * the pulls; in the library's thread. */
void px_settle_closed(const void *tool);

/* Under the lock. A pull that was given nothing more since, as its tool has
 * deregistered: had the tool read all of what it was given when it closed? */
bool px_settle_has_all(const struct pull *pull);

/* Under the lock. Does the pull's tool still hold its socket, which is known?
 * What it has not read is there then. */
bool px_settle_has_tool(const struct pull *pull);

/* Under the lock, in the main thread. Is some of the pull's not in the tool's
 * socket? The position before which all of it is. */
bool px_settle_is_left(const struct pull *pull);
uint64_t px_settle_given(const struct pull *pull);

#endif
