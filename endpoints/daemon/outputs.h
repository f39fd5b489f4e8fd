/* The outputs of processes: read, filtered, and then sent or dropped. */
#ifndef ENDPOINTS_DAEMON_OUTPUTS_H
#define ENDPOINTS_DAEMON_OUTPUTS_H

#include "endpoints/daemon/processes_impl.h"

/* Opens an output that comes from `fd`. Returns 0, OV_ENOMEM or OV_ESYS; fd is
 * then still the caller's. */
int ep_proc_output_open(struct output *out, int fd);
/* Closes its channel; and forgets what was left out of it. */
void ep_proc_output_close(struct output *out);
void ep_proc_output_forget(struct output *out);
/* True when what it writes is read and dropped. */
bool ep_proc_output_is_dropped(const struct output *out);
/* Reads and drops some of it. */
void ep_proc_output_drop(struct output *out);
/* Reads some of it into the block. */
enum ep_channel_state ep_proc_output_take(struct output *out,
                                          uint32_t max_bytes,
                                          struct ov_read *read);
/* Drops what there is, or has the hub read it. */
void ep_proc_output_look(struct output *out);

#endif
