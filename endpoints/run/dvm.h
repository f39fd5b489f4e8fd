/* A tree without a job of its own, for those that others start in it: `xylem
 * dvm`.
 *
 * The processes of the run's own job are the daemons then, one for each node.
 * They are never started, so they have no output and no exit; but they have a
 * name, and the numbers of all processes that come begin behind theirs.
 */
#ifndef ENDPOINTS_RUN_DVM_H
#define ENDPOINTS_RUN_DVM_H

struct run;

/* All nodes have joined. */
void ep_run_dvm_begin(struct run *r);
/* Tools can come, at this address: tells the user, and options.report_uri. Does
 * nothing for a run with a job of its own. */
void ep_run_dvm_up(struct run *r, const char *uri);
/* There is no desk for tools, and jobs are started by other clients alone:
 * tells the user. It ends, with code 1, where these cannot find it or the file
 * is for tools. Does nothing for a run with a job of its own, too. */
void ep_run_dvm_alone(struct run *r);
/* No tool can come, and none will: the dvm ends, with code 1. */
void ep_run_dvm_give_up(struct run *r, const char *why);
/* Ends the jobs, with SIGKILL those that are still there after a grace, and
 * then the run, with code 0. The caller sees to it that it happens once. */
void ep_run_dvm_end(struct run *r);
/* Ends the dvm as the first SIGTERM does, when a client asks for it; asking
 * again changes nothing. */
void ep_run_dvm_stop(struct run *r);
/* Removes what is left of it: report.h. */
void ep_run_dvm_close(struct run *r);

#endif
