/* The door of the session: from its first moment to its last, of one launch
 * after another. */
#ifndef ENDPOINTS_RUN_DOOR_H
#define ENDPOINTS_RUN_DOOR_H

struct run;

/* Opens it, of the first launch. */
void ep_run_door_open(struct run *r);
/* This launch serves it. Where there is none the session goes on without; who
 * has started it is told once, of a plain run with --verbose alone. Returns 0
 * or OV_ENOMEM. */
int ep_run_door_serve(struct run *r);
/* What comes waits for the next launch. */
void ep_run_door_pause(struct run *r);

#endif
