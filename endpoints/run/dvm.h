/* A tree without a job of its own, in which clients start jobs: `xylem dvm`.
 *
 * The run still has its own job, but in a dvm the processes of this job stand
 * for the daemons, one for each node. They are never started, so they have no
 * output and no exit. They do have a name, and the processes that clients start
 * are numbered from the first number after them.
 */
#ifndef ENDPOINTS_RUN_DVM_H
#define ENDPOINTS_RUN_DVM_H

struct run;

/* Begins the dvm's work. To be called when all nodes have joined. */
void ep_run_dvm_begin(struct run *r);
/* Tells the user that tools can connect to this address, and writes the address
 * to options.report_uri. Does nothing for a run with a job of its own. */
void ep_run_dvm_up(struct run *r, const char *uri);
/* Tells the user that PMIx tools cannot connect, so that only clients of the
 * door can start jobs. Ends the dvm with code 1 when such clients cannot find
 * the door either, or when the user asked for a file with the address of tools.
 * Does nothing for a run with a job of its own. */
void ep_run_dvm_alone(struct run *r);
/* Ends the dvm with code 1, because no tool can connect and none ever will;
 * `why` says the reason. */
void ep_run_dvm_give_up(struct run *r, const char *why);
/* Ends the jobs, by SIGKILL those that do not end in time, and then the run
 * with code 0. May be called only once. */
void ep_run_dvm_end(struct run *r);
/* Ends the dvm because a client asks for it, in the same way as the first
 * SIGTERM does. Asking again changes nothing. */
void ep_run_dvm_stop(struct run *r);
/* Removes the file with the address of tools (report.h) and frees the dvm's
 * timers. */
void ep_run_dvm_close(struct run *r);

#endif
