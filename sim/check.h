/* Somebody who looks on and holds every step to the rules.
 *
 * It knows what goes in and out of a node, frames, events, actions and bytes,
 * and has books of its own (sim/books.h); nothing is asked of the core. What it
 * checks, the rules of links in sim/check_links.h:
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
 * The first rule that breaks stops the run: sim_world.why.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/state.h"

/* 0 or OV_ENOMEM. */
int sim_check_open(struct sim_world *w);
void sim_check_close(struct sim_world *w);

/* A record goes in. */
void sim_check_record(struct sim_world *w, uint32_t n,
                      const struct ov_read *read);
void sim_check_lost(struct sim_world *w, uint32_t peer);
/* Node n hears where a peer listens, and dials it to see whether it does. */
void sim_check_address(struct sim_world *w, uint32_t n, uint32_t peer);
void sim_check_probe(struct sim_world *w, uint32_t n, uint32_t peer);
/* So that node n has no parent. */
void sim_check_orphan(struct sim_world *w, uint32_t n);

void sim_check_consume(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice);
/* One that was pushed, so many frames of the stream and pushes of it came
 * before there: is it the right one? */
bool sim_check_pushed(struct sim_world *w, uint32_t n, const struct ov_act *act,
                      const struct ov_slice *slice, uint32_t frames,
                      uint32_t pushes);
void sim_check_shown(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice);
void sim_check_taken(struct sim_world *w, uint32_t source);

/* Node n was stepped. */
void sim_check_step(struct sim_world *w, uint32_t n);

/* The run is over, before and after the nodes gave their buffers back. */
void sim_check_end(struct sim_world *w);
void sim_check_buffers(struct sim_world *w);

#endif
