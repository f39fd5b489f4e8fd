/* What is said of processes of further jobs that do not read their stdin. */
#ifndef ENDPOINTS_RUN_SLOW_H
#define ENDPOINTS_RUN_SLOW_H

#include <stdbool.h>

struct job;
struct job_word;
struct run;

/* A word of kind JOB_WORD_STDIN. True: its stdin is lost, and the job is to
 * end. */
bool ep_run_slow_said(struct run *r, const struct job *job,
                      const struct job_word *state);

#endif
