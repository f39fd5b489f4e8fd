/* Listeners to a run beside the console: the clients of its door, which look at
 * its jobs and start further ones (endpoints/client/viewers.h), and the desk,
 * to which PMIx tools connect (endpoints/client/desk.h). This module carries
 * out what clients and tools ask of the launcher. The modules in which
 * something happens report it to them directly.
 */
#ifndef ENDPOINTS_RUN_CLIENTS_H
#define ENDPOINTS_RUN_CLIENTS_H

struct run;

/* Opens the viewers and the desk, if the run has them, and reports to them
 * which processes read stdin. When PMIx tools cannot connect, the door tells
 * its clients why. */
void ep_run_clients_open(struct run *r);
/* Closes the viewers and the desk. Does nothing when neither is open. */
void ep_run_clients_close(struct run *r);

#endif
