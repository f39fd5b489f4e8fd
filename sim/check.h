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
 *   a child sends no frame beyond the limit that it has received, and a parent
 *   allows each child, and all together, no more frames than it has room for;
 *   a parent sends no frame beyond the child's reported base plus the window;
 *   a node reports no base that its own targets and all nodes beneath it have
 *   not reached; the root acknowledges just the records that its console has
 *   taken; no port has more frames than a link has slots; nothing is done on a
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

/* Checks a record that node n reads from an input. */
void sim_check_record(struct sim_world *w, uint32_t n,
                      const struct ov_read *read);
void sim_check_lost(struct sim_world *w, uint32_t peer);
/* The first function notes that node n learns where a peer listens; the second
 * checks that it may dial the peer to see whether it still does. */
void sim_check_address(struct sim_world *w, uint32_t n, uint32_t peer);
void sim_check_probe(struct sim_world *w, uint32_t n, uint32_t peer);
/* Checks that node n has a reason to have lost its parent. */
void sim_check_orphan(struct sim_world *w, uint32_t n);

void sim_check_consume(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice);
/* Checks a push that has reached a node after `frames` other frames of the
 * stream and `pushes` pushes. Returns true when it is the push that had to come
 * next. */
bool sim_check_pushed(struct sim_world *w, uint32_t n, const struct ov_act *act,
                      const struct ov_slice *slice, uint32_t frames,
                      uint32_t pushes);
void sim_check_shown(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice);
void sim_check_taken(struct sim_world *w, uint32_t source);

/* Checks what node n holds after a step. */
void sim_check_step(struct sim_world *w, uint32_t n);

/* Make the checks at the end of a run, before and after the nodes have returned
 * their buffers. */
void sim_check_end(struct sim_world *w);
void sim_check_buffers(struct sim_world *w);

#endif
