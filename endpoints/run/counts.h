/* What a run counts, for the report of --stats. */
#ifndef ENDPOINTS_RUN_COUNTS_H
#define ENDPOINTS_RUN_COUNTS_H

#include <stdint.h>

#include "job/word.h"

struct ep_stats;

/* All zero: nothing was counted yet. */
struct run_counts {
    /* From the start until every process ran; 0: not all ran. */
    uint64_t launch_ns;
    /* Received from the run's own processes. */
    uint64_t output_bytes[OV_CHANNELS];
    /* The sums over all daemons; of peaks the largest. */
    struct job_usage daemons;
    uint64_t repairs;       /* nodes that found a new parent */
    uint64_t repair_us_max; /* the longest time that a node was without one */
};

/* A daemon tells what it has used since it told the last time. */
void ep_run_counts_usage(struct run_counts *counts,
                         const struct job_usage *usage);
/* A node was without a parent for this time. */
void ep_run_counts_repair(struct run_counts *counts, uint64_t away_us);
/* Writes what is counted here into the report, and leaves the rest as it is. */
void ep_run_counts_fill(const struct run_counts *counts,
                        struct ep_stats *stats);

#endif
