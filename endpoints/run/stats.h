/* The report of --stats, from the state of a run. */
#ifndef ENDPOINTS_RUN_STATS_H
#define ENDPOINTS_RUN_STATS_H

struct run;

/* Writes it, at the end and once. Returns 0; 1 when it cannot be written, which
 * is told. */
int ep_run_stats_write(struct run *r);

#endif
