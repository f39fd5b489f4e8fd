/* The session: when it begins and ends, which job/session.h decides. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "sim/state.h"

/* Exit codes as in xylem run. */
enum { SIM_CODE_LAUNCH = 1, SIM_CODE_TIMEOUT = 124 };

/* Starts the time limits of the launch and of the run. */
void sim_session_open(struct sim_world *w);

/* Events of the session. */
void sim_session_begun(struct sim_world *w);
void sim_session_kill(struct sim_world *w);
void sim_session_done(struct sim_world *w);
void sim_session_gone(struct sim_world *w);

/* Time limits are reached: of the launch, of the run, of an end. The root gets
 * no event from this but orders that wait. */
bool sim_session_on_launch_limit(struct sim_world *w,
                                 const struct sim_item *item,
                                 struct ov_event *ev);
bool sim_session_on_timeout(struct sim_world *w, const struct sim_item *item,
                            struct ov_event *ev);
bool sim_session_on_late(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);

#endif
