/* The launcher at the root: starts the jobs, feeds stdin, shows records, and
 * ends the run.
 *
 * It works as `xylem run` does. When every node has joined it opens stdin and
 * launches the job, and further jobs later. When a node is lost, or a process
 * cannot be started, it ends the job: it orders all nodes to kill their
 * processes, and each node then sends its last report. It sends the goodbye
 * when it has received the last report of each node or given the node up, all
 * jobs are over, and the console has taken all records.
 */
#ifndef SIM_LAUNCHER_H
#define SIM_LAUNCHER_H

#include "sim/state.h"

/* Returns 0 or OV_ENOMEM. */
int sim_launcher_open(struct sim_world *w);
/* sim_launcher_finish() releases the buffers that the launcher holds,
 * sim_launcher_close() frees it. */
void sim_launcher_finish(struct sim_world *w);
void sim_launcher_close(struct sim_world *w);

/* Carry out actions of the root, within its step. The reference in the slice
 * passes to the launcher. */
void sim_launcher_joined(struct sim_world *w);
void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice);
void sim_launcher_lost(struct sim_world *w, uint32_t node);
void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act);
void sim_launcher_gone(struct sim_world *w);

/* Start a further job, and kill a job. They return false, because the root gets
 * no event from this, but only the orders that they queue. */
bool sim_launcher_tell(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);
bool sim_launcher_kill(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev);

/* Makes *ev, which reports to the root that the console has taken a record. */
bool sim_launcher_taken(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev);

/* To be called after each event of the root: sends the goodbye when all is
 * over. */
void sim_launcher_settle(struct sim_world *w);
/* Makes the next order, or the next frame of stdin, for which there is room.
 * Returns true when *ev is an event for the root, false when there is nothing
 * to send now. */
bool sim_launcher_say(struct sim_world *w, struct ov_event *ev);

#endif
