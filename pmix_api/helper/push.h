/* What tools push to the stdin of processes, on its way to the launcher.
 *
 * The calls of all tools are one after another, each whole, in the order in
 * which the library has them, but that those to a job wait aside for which the
 * launcher has no room (pushes.h). A call is answered when the launcher was
 * sent all of it: from then on it is there, whatever becomes of us. Until then
 * the answer waits, and so does a tool that waits for answers. A tool that
 * waits for none is cut off when more than 16 MiB of it have no answer; one
 * whose stdin is collected is read more slowly before that.
 *
 * What is for the run's own job waits, at first, until the launcher knows that
 * somebody pushes: the end of its own stdin would go before. Where it has gone
 * already, the push is refused.
 */
#ifndef PMIX_API_HELPER_PUSH_H
#define PMIX_API_HELPER_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/wire.h"

/* Before the server is open. Returns 0 or OV_ENOMEM. */
int px_push_open(void);

/* The upcall of the server's module; in the library's thread. */
pmix_status_t px_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                      size_t ntargets, const pmix_info_t directives[],
                      size_t ndirs, const pmix_byte_object_t *bytes,
                      pmix_op_cbfunc_t answer, void *arg);

/* A tool has gone; what it had pushed goes on. Any thread. */
void px_push_forget(const pmix_proc_t *tool);

/* A word of the launcher: PX_STDIN, PX_GRANT or PX_HELD. */
void px_push_told(const struct px_msg *msg);

/* Readable when px_push_step() has something to do. */
int px_push_fd(void);

/* Goes on as far as that is possible. */
void px_push_step(void);

#endif
