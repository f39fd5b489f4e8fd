/* The door of the session, at which clients connect. It exists from the
 * session's first moment to its last, and serves one launch after another. */
#ifndef ENDPOINTS_RUN_DOOR_H
#define ENDPOINTS_RUN_DOOR_H

struct run;

/* Opens the door; to be called by the first launch. */
void ep_run_door_open(struct run *r);
/* Makes this launch the one whose jobs the door's clients see. When there is no
 * door, the session goes on without one; the user is told so once, and with a
 * job of the run's own only under --verbose. Returns 0 or OV_ENOMEM. */
int ep_run_door_serve(struct run *r);
/* Keeps all further messages of clients waiting until the next launch serves
 * the door. */
void ep_run_door_pause(struct run *r);

#endif
