/* Spawns are answered one after the other, so that the request which the
 * library makes with each can be told from all others: it is the one that was
 * not there before.
 *
 * All in the library's thread, unless it says otherwise.
 */
#ifndef PMIX_API_HELPER_BIND_H
#define PMIX_API_HELPER_BIND_H

#include <stdbool.h>

#include "pmix_api/helper/request.h"

/* Answers a spawn, at once or behind those before. */
void px_bind_answer(const struct px_asker *asker, const char *nspace);

/* One is being answered; any thread. When none is any more, px_deliver_step()
 * has something to do. */
bool px_bind_is_busy(void);

/* Is the library asked for our sake, which requests there are? */
bool px_bind_match(const pmix_proc_t *source, const void *request);

#endif
