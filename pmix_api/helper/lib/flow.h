/* Follows deliveries of output on their way to the tool: from the caller to
 * libpmix, from there into the tool's socket, and from there to the tool.
 *
 * Each delivery has its own serial number among its infos (PX_LIB_SERIAL), by
 * which it is recognised when libpmix writes it to the socket. So the messages
 * that libpmix really sends are counted: libpmix does not say for how many
 * pulls a delivery was. That no further message of a delivery follows is known
 * when libpmix writes a later delivery, or has nothing left to write; in the
 * latter case it no longer has the kernel watch the socket for room.
 */
#ifndef PMIX_API_HELPER_LIB_FLOW_H
#define PMIX_API_HELPER_LIB_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include <pmix_server.h>

/* Keys of the infos of a delivery. The value of PX_LIB_SERIAL is text that is
 * of no use to a tool. The other two keys (uint64_t) say how many bytes are
 * missing just before the delivery: bytes dropped because the tool read too
 * slowly, and bytes written before its pull and not kept. */
#define PX_LIB_SERIAL  "xylem.iof.number"
#define PX_LIB_DROPPED "xylem.iof.dropped"
#define PX_LIB_BEFORE  "xylem.iof.before"

/* Prepares this module; to be called once, before the other functions. Returns
 * 0 or OV_ESYS. */
int px_flow_open(void);

/* Begins to follow the tool's socket. The descriptor becomes this module's,
 * which never closes it. */
void px_flow_start(int fd);

/* --- in a thread of libpmix */

/* Adds 1 or -1 to the number of registered pulls. */
void px_flow_pull(int change);
/* Notes that the output of a job goes to the tool without a pull. This adds at
 * most one message to each delivery, because two jobs never share a process. */
void px_flow_forward(void);
/* Notes that a pull of these processes is registered and is about to be
 * answered with yes. Output of these processes that was delivered to be shown
 * is then kept from the pull. */
void px_flow_begin(const pmix_proc_t procs[], size_t count,
                   pmix_iof_channel_t channels);
/* px_flow_try() is called before a write to the socket; it returns false when
 * the message is to be kept from the tool, and counts as written.
 * px_flow_wrote() is called after the write. */
bool px_flow_try(const struct iovec *parts, int count);
void px_flow_wrote(size_t bytes);
/* Notes that the tool has closed its end of the socket: nothing more will be
 * written. If the end is clean, the tool has read all that has come to it. */
void px_flow_end(bool is_clean);
/* Keeps output that was delivered so far from the next pull. Returns at once;
 * libpmix does this before anything else. */
void px_flow_cut(void);

/* --- in the caller's thread, as px_lib_deliver(), px_lib_withhold(),
 * px_lib_room(), px_lib_taken() and px_lib_missed(), which flow.c has, too */

/* Returns true, once, when there is room again after px_lib_room() was 0. */
bool px_flow_has_room(void);

#endif
