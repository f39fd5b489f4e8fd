/* The machines of nodes, asked for when a further job is placed by them.
 *
 * The launcher of a running tree knows none, or those that it has placed its
 * own job by (survey.h). So the first such job asks the nodes that it may be
 * on, and is put off until they have answered or are lost; what they say is
 * kept for the jobs after it. Of others that are put off meanwhile none goes on
 * before all that was asked is answered.
 */
#ifndef ENDPOINTS_RUN_ASK_H
#define ENDPOINTS_RUN_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "job/word.h"

struct run;

/* Returns 0: the machines of these nodes are known. OV_EAGAIN: they have been
 * asked, and the tap is told to try again. OV_ESYS: one of them cannot tell, as
 * a sentence in why (EP_TAP_WHY_MAX bytes) says; once those that were put off
 * have been told so it can be asked anew. O(nodes of the tree). */
int ep_run_ask(struct run *r, const uint32_t *nodes, uint32_t count, char *why);

/* What a node says. False: nobody has asked it. */
bool ep_run_ask_word(struct run *r, uint32_t node,
                     const struct job_word *state);
/* It is lost, and marked so: its answer is not waited for. */
void ep_run_ask_lost(struct run *r, uint32_t node);

void ep_run_ask_close(struct run *r);

#endif
