/* The door of the session. */
#ifndef ENDPOINTS_RUN_DOOR_H
#define ENDPOINTS_RUN_DOOR_H

struct run;

/* Opens it. Where that cannot be the session goes on without; who has started
 * it is told, of a plain run with --verbose alone. */
void ep_run_door_open(struct run *r);
void ep_run_door_close(struct run *r);
/* Nobody is there to whom tools could connect. */
void ep_run_door_alone(struct run *r);

#endif
