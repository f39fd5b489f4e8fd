/* The door of the session. It is there from the session's first moment to its
 * last, and serves one launch after another. */
#ifndef ENDPOINTS_RUN_DOOR_H
#define ENDPOINTS_RUN_DOOR_H

struct run;

/* Opens the door; to be called by the first launch. */
void ep_run_door_open(struct run *r);
/* Has this launch serve the door. Without a door the session goes on; the user
 * is told once, but of a run with a job of its own only with --verbose. Returns
 * 0 or OV_ENOMEM. */
int ep_run_door_serve(struct run *r);
/* What clients say from now on waits for the next launch. */
void ep_run_door_pause(struct run *r);

#endif
