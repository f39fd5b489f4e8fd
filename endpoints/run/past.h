/* Jobs that are over and whose output is still kept on their nodes, for those
 * who come late to the tap.
 *
 * The nodes keep it until they are told to forget the job, and what of it they
 * have room for; so all of them agree on which jobs there are to be asked for.
 */
#ifndef ENDPOINTS_RUN_PAST_H
#define ENDPOINTS_RUN_PAST_H

#include <stdint.h>

struct job;
struct run;

/* Of these jobs; when one more is over the one that was over first goes. It
 * stays a little longer while an answer of output from before is due. */
enum { RUN_PASTS_MAX = 32 };

/* The job is over. O(processes). */
void ep_run_past_add(struct run *r, const struct job *job);
/* What that node kept is gone. O(processes of all). */
void ep_run_past_lost(struct run *r, uint32_t node);
void ep_run_past_close(struct run *r);

#endif
