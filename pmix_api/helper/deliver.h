/* Output on its way to the tools.
 *
 * What the launcher sends is queued: in memory, then in a file, then no more
 * (what is dropped is counted, and told with the next bytes of its channel).
 * The library takes whatever it is given and keeps it in memory without bound,
 * so it is given a batch only while the socket of every tool has room.
 *
 * All calls in the main thread.
 */
#ifndef PMIX_API_HELPER_DELIVER_H
#define PMIX_API_HELPER_DELIVER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/wire.h"

/* What is told of dropped bytes: an info of a delivery, uint64_t. */
#define PX_IOF_DROPPED "xylem.iof.dropped"

/* After the job is known; `dir` is borrowed. Returns 0 or OV_ENOMEM. */
int px_deliver_open(const char *dir);

/* Readable when px_deliver_step() has something to do. */
int px_deliver_fd(void);

/* Queues one OUTPUT. */
void px_deliver_put(const struct px_output *output);

/* Goes on as far as that is possible. Fills in the sockets of tools that hold
 * everybody up (TOOLS_MAX), for poll(); returns how many. `now_ms` is a
 * monotonic clock. */
unsigned px_deliver_step(uint64_t now_ms, struct pollfd *stuck);

/* What waits here, and what the library has not taken; 0: nothing. */
uint64_t px_deliver_left_bytes(void);

/* Since when the library owes an answer; 0: it does not. */
uint64_t px_deliver_asked_ms(void);

#endif
