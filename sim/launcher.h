/* The launcher at the root: opens the job, feeds stdin, shows records, ends.
 *
 * As xylem run: when every node has joined it opens stdin and launches, and
 * further jobs later; a node that is lost, or a process that cannot be started,
 * ends the job for the others too (they are told to kill their processes and
 * say their last words); when all have said theirs, or are given up, all jobs
 * are over and the console has everything, it says goodbye.
 */
#ifndef SIM_LAUNCHER_H
#define SIM_LAUNCHER_H

#include "sim/state.h"

/* 0 or OV_ENOMEM. */
int sim_launcher_open(struct sim_world *w);
/* What it holds is given back; then it is closed. */
void sim_launcher_finish(struct sim_world *w);
void sim_launcher_close(struct sim_world *w);

/* Within a step of the root: its actions. A reference passes with the slice. */
void sim_launcher_joined(struct sim_world *w);
void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_launcher_lost(struct sim_world *w, uint32_t node);
void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act);
void sim_launcher_gone(struct sim_world *w);

/* A further job is told, a job is killed: nothing comes of it for the root but
 * orders that wait. */
bool sim_launcher_tell(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_launcher_kill(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* The console has a record: *ev comes of it. */
bool sim_launcher_taken(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev);

/* After anything happened to the root: when all is over, goodbye is to be said.
 */
void sim_launcher_settle(struct sim_world *w);
/* The next word, then the next frame of stdin, for which there is room: true,
 * and *ev is for the root. False: nothing more for now. */
bool sim_launcher_say(struct sim_world *w, struct ov_event *ev);

#endif
