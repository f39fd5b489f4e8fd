/* The stdin of the jobs: what feeds the launcher, and tools that push, become
 * the frames that job/streams.h makes of them. */
#ifndef SIM_STDIN_H
#define SIM_STDIN_H

#include "overlay/wire/push.h"
#include "sim/state.h"

/* Bytes of a push with its head at most. */
enum {
    SIM_PUSH_MESSAGE_MAX =
        SIM_PUSH_BYTES_MAX + OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES
};

/* 0 or OV_ENOMEM. */
int sim_stdin_open(struct sim_world *w);
/* What it holds is given back; then it is closed. */
void sim_stdin_finish(struct sim_world *w);
void sim_stdin_close(struct sim_world *w);

/* The calls of job/streams.h by these names; writers are jobs. The own job was
 * told before. */
void sim_stdin_open_stream(struct sim_world *w, uint32_t stream);
void sim_stdin_expect(struct sim_world *w, bool are_there);
void sim_stdin_push(struct sim_world *w, uint32_t stream, uint32_t job,
                    const uint8_t *mem, uint32_t len_bytes);

/* The next frame: true, and *ev is for the root. False: nothing more for now.
 */
bool sim_stdin_next(struct sim_world *w, struct ov_event *ev);

/* Pushes of a stream that were sent. */
uint32_t sim_stdin_sent(const struct sim_world *w, uint32_t stream);

#endif
