/* A tree without a job of its own, in which clients start jobs: `xylem dvm`.
 *
 * The processes of the run's own job are the daemons here, one for each node.
 * They are never started, so they have no output and no exit. They do have a
 * name, and the numbers of all processes that are started begin after theirs.
 */
#ifndef ENDPOINTS_RUN_DVM_H
#define ENDPOINTS_RUN_DVM_H

struct run;

/* All nodes have joined. */
void ep_run_dvm_begin(struct run *r);
/* Tools can connect to this address: tells the user, and writes it to
 * options.report_uri. Does nothing for a run with a job of its own. */
void ep_run_dvm_up(struct run *r, const char *uri);
/* There is no desk for tools, so only other clients can start jobs: tells the
 * user. Ends the dvm with code 1 when these cannot find it, or when a file for
 * the address of tools was asked for. Does nothing for a run with a job of its
 * own. */
void ep_run_dvm_alone(struct run *r);
/* No tool can connect, and none ever will: the dvm ends with code 1. */
void ep_run_dvm_give_up(struct run *r, const char *why);
/* Ends the jobs, after a grace with SIGKILL, and then the run with code 0. The
 * caller makes sure that it is called once. */
void ep_run_dvm_end(struct run *r);
/* Ends the dvm as the first SIGTERM does, because a client asks for it. Asking
 * again changes nothing. */
void ep_run_dvm_stop(struct run *r);
/* Removes the dvm's report (report.h) and what else is left of it. */
void ep_run_dvm_close(struct run *r);

#endif
