/* Redirected output that went down with the helper, or with a tool: the
 * launcher has a copy of what that may not have read (host_keep.h), and gives
 * it back as the helper itself would (host_back.h).
 *
 * The last of it may be with the tool as well: what the helper, libpmix or the
 * kernel had at the end is not told apart to the byte.
 */
#ifndef PMIX_API_HOST_SALVAGE_H
#define PMIX_API_HOST_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

struct px_end;
struct px_host;

/* Returns 0 or OV_ENOMEM. */
int px_salvage_open(struct px_host *host);
void px_salvage_close(struct px_host *host);

/* The helper has died: what its pulls may lack is given back from now on, and
 * what waits for the socket is behind that. Returns how many bytes were lost at
 * most. The pulls that are left are over. */
uint64_t px_salvage_take(struct px_host *host);

/* A pull has ended, and what its tool has not read is for the launcher to give
 * back. False: there is nothing, and it has simply ended. */
bool px_salvage_pull(struct px_host *host, const struct px_end *end);

/* One output of those that were given back has been taken: false when there are
 * none. */
bool px_salvage_taken(struct px_host *host);

#endif
