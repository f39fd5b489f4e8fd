/* What is said of processes of further jobs that do not read their stdin. */
#ifndef ENDPOINTS_RUN_SLOW_H
#define ENDPOINTS_RUN_SLOW_H

#include <stdbool.h>

struct ep_job;
struct ep_state;
struct run;

/* A word of kind EP_STATE_STDIN. True: its stdin is lost, and the job is to
 * end. */
bool ep_run_slow_said(struct run *r, const struct ep_job *job,
                      const struct ep_state *state);

#endif
