/* Output on its way to the tools: from the pulls (helper/pulls.h) to the
 * library.
 *
 * The library takes whatever it is given and keeps it in memory without bound,
 * so a pull is given a batch only while the socket of its tool has room and the
 * library has written most of what it was given for it (helper/lag.h).
 */
#ifndef PMIX_API_HELPER_DELIVER_H
#define PMIX_API_HELPER_DELIVER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/wire.h"

struct px_receiver;

/* What is told of bytes that are missing just before a delivery, as infos of it
 * (uint64_t): they were dropped as the tool took too little, or come from
 * before its pull and were not kept. */
#define PX_IOF_DROPPED "xylem.iof.dropped"
#define PX_IOF_BEFORE  "xylem.iof.before"

/* Returns 0 or OV_ESYS. */
int px_deliver_open(void);

/* Readable when px_deliver_step() has something to do. */
int px_deliver_fd(void);
/* Makes it so; any thread. */
void px_deliver_wake(void);

/* Goes on as far as that is possible; the main thread. Fills in the sockets of
 * tools that take nothing (TOOLS_MAX), for poll(); returns how many. `now_ms`
 * is a monotonic clock. */
unsigned px_deliver_step(uint64_t now_ms, struct pollfd *stuck);

/* While the library has nothing to do, and nothing waits for it, the next batch
 * is open until px_deliver_close(): outputs go straight into it, and their
 * bytes stay where they are while px_deliver_borrows(). The main thread. */

/* The number of the last batch, not 0; is it open? */
uint32_t px_deliver_batch(void);
bool px_deliver_is_open(void);
/* What of it is for a tool, as px_lag_room() counts. */
uint64_t px_deliver_passed(const void *tool);
/* False: it has no room for this one. */
bool px_deliver_pass(const struct px_output *output,
                     const struct px_receiver *to);
/* It has enough, as was said or by itself, and is to be closed. */
void px_deliver_enough(void);
bool px_deliver_is_full(void);
void px_deliver_close(uint64_t now_ms);
bool px_deliver_borrows(void);

/* Deliveries that the library has not taken; 0: none. */
unsigned px_deliver_asked(void);
/* Bytes of these, and of those that were submitted with them. */
uint64_t px_deliver_bytes(void);
/* Since when; 0: there are none. */
uint64_t px_deliver_asked_ms(void);

/* --- In the library's thread. */

/* A delivery of ours, and for this request of the library? */
bool px_deliver_is_ours(const pmix_proc_t *source);
bool px_deliver_is_for(const pmix_proc_t *source, const void *request);
/* One of ours is in the library's queue now. */
void px_deliver_queued(const pmix_proc_t *source);
/* Those on their way to a request go before all others. */
void px_deliver_hurry(const void *request);
/* One more goes at once. */
void px_deliver_now(const struct px_output *output,
                    const struct px_receiver *to);

#endif
