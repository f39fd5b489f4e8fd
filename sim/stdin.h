/* Makes frames of the launcher's stdin and of the pushes of tools, as
 * job/streams.h decides. */
#ifndef SIM_STDIN_H
#define SIM_STDIN_H

#include "overlay/wire/push.h"
#include "sim/state.h"

/* The longest message of a push, head included. */
enum {
    SIM_PUSH_MESSAGE_MAX =
        SIM_PUSH_BYTES_MAX + OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES
};

/* Returns 0 or OV_ENOMEM. */
int sim_stdin_open(struct sim_world *w);
/* sim_stdin_finish() releases the buffers that this file holds,
 * sim_stdin_close() frees its memory. */
void sim_stdin_finish(struct sim_world *w);
void sim_stdin_close(struct sim_world *w);

/* Call the functions of job/streams.h with these names; each job is one writer.
 * The run's own job must have been added before. */
void sim_stdin_open_stream(struct sim_world *w, uint32_t stream);
void sim_stdin_expect(struct sim_world *w, bool are_there);
void sim_stdin_push(struct sim_world *w, uint32_t stream, uint32_t job,
                    const uint8_t *mem, uint32_t len_bytes);

/* Makes the next frame into an event for the root. Returns false when there is
 * nothing to send now. */
bool sim_stdin_next(struct sim_world *w, struct ov_event *ev);

/* How many frames with pushes were made for a stream. */
uint32_t sim_stdin_sent(const struct sim_world *w, uint32_t stream);

#endif
