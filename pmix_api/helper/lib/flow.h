/* Output on its way to the tool: from the caller to libpmix, from there into
 * the socket, and out of it at the other end.
 *
 * Each delivery has a mark of its own among its infos, PX_LIB_SERIAL, by which
 * it is known again when libpmix writes it. So all is counted by messages that
 * were really sent: libpmix does not say how many pulls a delivery was for.
 * That it was for none, or for no further one, shows when a later delivery is
 * written, or when libpmix has nothing left to write: then it does not have the
 * kernel watch the socket for room any more.
 */
#ifndef PMIX_API_HELPER_LIB_FLOW_H
#define PMIX_API_HELPER_LIB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include <pmix_server.h>

/* Infos of a delivery: text that is of no use to a tool; and what is missing
 * just before it (uint64_t): bytes that were dropped as the tool took too
 * little, or come from before its pull and were not kept. */
#define PX_LIB_SERIAL  "xylem.iof.number"
#define PX_LIB_DROPPED "xylem.iof.dropped"
#define PX_LIB_BEFORE  "xylem.iof.before"

/* Once, before the rest. Returns 0 or OV_ESYS. */
int px_flow_open(void);

/* The tool's socket, a descriptor of ours that stays open. */
void px_flow_start(int fd);

/* --- In a thread of libpmix. */

/* One more pull is registered, or one less. */
void px_flow_pull(int change);
/* Of a job that was started output comes to the tool without a pull. Those of
 * one tool share no processes, so it is one more message at most. */
void px_flow_forward(void);
/* A pull of these is registered, and is about to be answered with yes: what the
 * library has yet to show of them is not the pull's. */
void px_flow_begin(const pmix_proc_t procs[], size_t count,
                   pmix_iof_channel_t channels);
/* False: it is not for the tool, and counts as written. */
bool px_flow_try(const struct iovec *parts, int count);
void px_flow_wrote(size_t bytes);
/* The tool has closed its end: what is not written never will be. What has come
 * to the tool it has read, if that is clean. */
void px_flow_end(bool is_clean);
/* The next pull gets nothing that was delivered before it. Returns at once: it
 * happens before libpmix does anything else. */
void px_flow_cut(void);

/* --- The caller; px_lib_deliver(), px_lib_withhold(), px_lib_room(),
 * px_lib_taken() and px_lib_missed() are here, too. */

/* There is room again, since px_lib_room() was 0; said once. */
bool px_flow_has_room(void);

#endif
