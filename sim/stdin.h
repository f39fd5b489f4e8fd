/* The stdin of the jobs: the launcher's stdin and the pushes of tools become
 * frames, as job/streams.h decides. */
#ifndef SIM_STDIN_H
#define SIM_STDIN_H

#include "overlay/wire/push.h"
#include "sim/state.h"

/* The longest push with its head. */
enum {
    SIM_PUSH_MESSAGE_MAX =
        SIM_PUSH_BYTES_MAX + OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES
};

/* Returns 0 or OV_ENOMEM. */
int sim_stdin_open(struct sim_world *w);
/* Finishing releases what it holds; closing frees it. */
void sim_stdin_finish(struct sim_world *w);
void sim_stdin_close(struct sim_world *w);

/* Functions of job/streams.h with these names; each job is one writer. The
 * run's own job must be told before. */
void sim_stdin_open_stream(struct sim_world *w, uint32_t stream);
void sim_stdin_expect(struct sim_world *w, bool are_there);
void sim_stdin_push(struct sim_world *w, uint32_t stream, uint32_t job,
                    const uint8_t *mem, uint32_t len_bytes);

/* The next frame: true, and *ev is for the root. False: there is nothing for
 * now. */
bool sim_stdin_next(struct sim_world *w, struct ov_event *ev);

/* How many pushes of a stream were sent. */
uint32_t sim_stdin_sent(const struct sim_world *w, uint32_t stream);

#endif
