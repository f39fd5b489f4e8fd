/* The launcher at the root: opens the job, feeds stdin, shows records, ends.
 *
 * It works as xylem run. When every node has joined it opens stdin and launches
 * the job, and further jobs later. A node that is lost, or a process that
 * cannot be started, ends the job for the others, too: they are told to kill
 * their processes and say their last words. It says goodbye when all nodes have
 * said their last word or are given up, all jobs are over and the console has
 * everything.
 */
#ifndef SIM_LAUNCHER_H
#define SIM_LAUNCHER_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_launcher_open(struct sim_world *w);
/* Finishing releases what the launcher holds; closing frees it. */
void sim_launcher_finish(struct sim_world *w);
void sim_launcher_close(struct sim_world *w);

/* Actions of the root, within its step. A reference passes with the slice. */
void sim_launcher_joined(struct sim_world *w);
void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_launcher_lost(struct sim_world *w, uint32_t node);
void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act);
void sim_launcher_gone(struct sim_world *w);

/* Tells a further job, or kills a job. The root gets no event from this but the
 * orders that wait. */
bool sim_launcher_tell(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_launcher_kill(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* The console has taken a record: *ev tells the root. */
bool sim_launcher_taken(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev);

/* To be called after anything happened to the root: says goodbye when all is
 * over. */
void sim_launcher_settle(struct sim_world *w);
/* Says the next order, or the next frame of stdin, for which there is room:
 * true, and *ev is for the root. False: there is nothing for now. */
bool sim_launcher_say(struct sim_world *w, struct ov_event *ev);

#endif
