/* Output on its way to the tool: from the caller to libpmix, from there into
 * the socket, and out of it at the other end.
 *
 * Each delivery has a mark of its own among its infos, PX_LIB_SERIAL, by which
 * it is recognised when libpmix writes it. So only messages that were really
 * sent are counted: libpmix does not say how many pulls a delivery was for. A
 * delivery that was for no pull, or for no further one, shows when a later
 * delivery is written, or when libpmix has nothing left to write: then it stops
 * having the kernel watch the socket for room.
 */
#ifndef PMIX_API_HELPER_LIB_FLOW_H
#define PMIX_API_HELPER_LIB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include <pmix_server.h>

/* Infos of a delivery. The first is text that is of no use to a tool. The
 * others (uint64_t) say how many bytes are missing just before it: dropped
 * because the tool took too little, or written before its pull and not kept. */
#define PX_LIB_SERIAL  "xylem.iof.number"
#define PX_LIB_DROPPED "xylem.iof.dropped"
#define PX_LIB_BEFORE  "xylem.iof.before"

/* Prepares the flow; to be called once, before the rest. Returns 0 or
 * OV_ESYS. */
int px_flow_open(void);

/* Begins to follow the tool's socket; the descriptor is ours and stays open. */
void px_flow_start(int fd);

/* --- in a thread of libpmix */

/* Counts one more registered pull, or one less. */
void px_flow_pull(int change);
/* Says that the output of a job comes to the tool without a pull. This adds at
 * most one message to each delivery, as the jobs of a tool share no
 * processes. */
void px_flow_forward(void);
/* Says that a pull of these processes is registered and is about to be answered
 * with yes. What the library has yet to show of them is not for that pull. */
void px_flow_begin(const pmix_proc_t procs[], size_t count,
                   pmix_iof_channel_t channels);
/* The first is called before a write; false: the message is not for the tool,
 * and counts as written. The second is called after it. */
bool px_flow_try(const struct iovec *parts, int count);
void px_flow_wrote(size_t bytes);
/* Says that the tool has closed its end: what is not written never will be. If
 * the end is clean, the tool has read all that has come to it. */
void px_flow_end(bool is_clean);
/* Keeps what was delivered so far from the next pull. Returns at once; it
 * happens before libpmix does anything else. */
void px_flow_cut(void);

/* --- in the caller's thread, as px_lib_deliver(), px_lib_withhold(),
 * px_lib_room(), px_lib_taken() and px_lib_missed(), which flow.c has, too */

/* True once when there is room again after px_lib_room() was 0. */
bool px_flow_has_room(void);

#endif
