/* An onlooker that checks every step against the rules.
 *
 * It sees what goes in and out of a node (frames, events, actions and bytes)
 * and keeps books of its own (sim/books.h), without asking the core. It checks,
 * with the rules of links in sim/check_links.h:
 *
 *   I1  what a process reads is stdin from its beginning, byte after byte;
 *       what the console shows of a process is what it wrote, byte after
 *       byte; and when the job ended well both are complete;
 *   I2  own records, frames of children and frames of streams held in a node
 *       are within their windows after every step;
 *   I3  nobody is lost whom no fault has touched; the run ends;
 *
 *   a child sends nothing beyond the limit it heard, a parent promises no more
 *   than it has room for, to each and to all together; a parent sends nothing
 *   beyond the base it heard and the window; a base is no more than everybody
 *   beneath has consumed; the root acknowledges what its console has, and no
 *   more; no more frames are at a port than the slots; nothing is done on a
 *   closed link; and at the end every buffer has come back.
 *
 * The first rule that is broken stops the run; sim_world.why says which.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_check_open(struct sim_world *w);
void sim_check_close(struct sim_world *w);

/* A record is read from node n's input. */
void sim_check_record(struct sim_world *w, uint32_t n,
                      const struct ov_read *read);
void sim_check_lost(struct sim_world *w, uint32_t peer);
/* Node n is told where a peer listens, and dials it to see whether it still
 * does. */
void sim_check_address(struct sim_world *w, uint32_t n, uint32_t peer);
void sim_check_probe(struct sim_world *w, uint32_t n, uint32_t peer);
/* Node n has lost its parent. */
void sim_check_orphan(struct sim_world *w, uint32_t n);

void sim_check_consume(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice);
/* A push has reached a node after `frames` other frames of the stream and
 * `pushes` pushes. True when it is the right one. */
bool sim_check_pushed(struct sim_world *w, uint32_t n, const struct ov_act *act,
                      const struct ov_slice *slice, uint32_t frames,
                      uint32_t pushes);
void sim_check_shown(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice);
void sim_check_taken(struct sim_world *w, uint32_t source);

/* Node n was stepped. */
void sim_check_step(struct sim_world *w, uint32_t n);

/* The run is over: before and after the nodes have returned their buffers. */
void sim_check_end(struct sim_world *w);
void sim_check_buffers(struct sim_world *w);

#endif
