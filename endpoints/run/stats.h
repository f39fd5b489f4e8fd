/* The report of --stats, made from the state of a run. */
#ifndef ENDPOINTS_RUN_STATS_H
#define ENDPOINTS_RUN_STATS_H

struct run;

/* Writes the report; to be called once, at the end. Returns 0, or 1 after a
 * message that says why it cannot be written. */
int ep_run_stats_write(struct run *r);

#endif
