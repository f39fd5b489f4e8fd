/* Tells how the processes of the run's own job ended, and which still run. */
#ifndef ENDPOINTS_RUN_EXITS_H
#define ENDPOINTS_RUN_EXITS_H

#include <stdbool.h>

struct job_life;
struct run_plan;
struct run_voice;

/* Tells which processes ended in which way, in nine lines at most. Says nothing
 * where the message about the first failure has said it all: when only one
 * process did not return 0. O(processes) for each line. */
void ep_run_exits_tell(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice);

/* Tells which processes still run, behind words such as "still running after
 * SIGINT". Says nothing and returns false when all are over. O(processes). */
bool ep_run_exits_rest(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice, const char *words);

#endif
