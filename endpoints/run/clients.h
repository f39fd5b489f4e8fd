/* Listeners to a run beside the console: the clients of its door, which look at
 * its jobs and start further ones (endpoints/client/viewers.h), and the desk to
 * which PMIx tools come (endpoints/client/desk.h). What they want of the
 * launcher is done here; what they are told is told wherever it happens.
 */
#ifndef ENDPOINTS_RUN_CLIENTS_H
#define ENDPOINTS_RUN_CLIENTS_H

struct run;

/* Opens the viewers and the desk, as far as there are any, and tells them which
 * processes read stdin. When PMIx tools cannot come, the door says why. */
void ep_run_clients_open(struct run *r);
/* Harmless when they are not open. */
void ep_run_clients_close(struct run *r);

#endif
