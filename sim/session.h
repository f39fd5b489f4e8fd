/* When the session begins and ends, as job/session.h decides. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "sim/state.h"

/* Exit codes of the run, the same as of `xylem run`. */
enum { SIM_CODE_LAUNCH = 1, SIM_CODE_TIMEOUT = 124 };

/* Starts the time limits of the launch and of the run. */
void sim_session_open(struct sim_world *w);

/* Pass events to the session: all nodes have joined; all is to be killed; all
 * jobs are over and shown; the goodbye has reached all nodes. */
void sim_session_begun(struct sim_world *w);
void sim_session_kill(struct sim_world *w);
void sim_session_done(struct sim_world *w);
void sim_session_gone(struct sim_world *w);

/* Handle the time limits of the launch, of the run, and of its end. They return
 * false, because the root gets no event from this, but only the orders that
 * they queue. */
bool sim_session_on_launch_limit(struct sim_world *w,
                                 const struct sim_item *item,
                                 struct ov_event *ev);
bool sim_session_on_timeout(struct sim_world *w, const struct sim_item *item,
                            struct ov_event *ev);
bool sim_session_on_late(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);

#endif
