/* What the proof of the output comes to at the end of a run. */
#ifndef ENDPOINTS_RUN_VERDICT_H
#define ENDPOINTS_RUN_VERDICT_H

#include "endpoints/run/proof.h"

struct run;

/* Judges the output, once the loop has ended: says in one line what it lacks,
 * and the run's exit code is then 1, where none was decided before. Output of
 * lost nodes has a line of its own, unless it was their loss that ended the
 * run; it changes nothing about the code. O(processes). */
void ep_run_judge(struct run *r);

#endif
