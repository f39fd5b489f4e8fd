/* What a run has counted, for the report of --stats. */
#ifndef ENDPOINTS_RUN_COUNTS_H
#define ENDPOINTS_RUN_COUNTS_H

#include <stdint.h>

#include "job/word.h"

struct ep_stats;

/* The counts of one run. All of them begin at zero. */
struct run_counts {
    /* Time from the start until every process ran; 0 when some never ran. */
    uint64_t launch_ns;
    /* Bytes received from the run's own processes. */
    uint64_t output_bytes[OV_CHANNELS];
    /* What the daemons have used: sums over all daemons, except for peaks,
     * which are the largest of any daemon. */
    struct job_usage daemons;
    uint64_t repairs;       /* how many nodes have found a new parent */
    uint64_t repair_us_max; /* the longest time that a node had no parent */
};

/* Adds what a daemon has used since its last report. */
void ep_run_counts_usage(struct run_counts *counts,
                         const struct job_usage *usage);
/* Counts a node that has found a new parent after this time without one. */
void ep_run_counts_repair(struct run_counts *counts, uint64_t away_us);
/* Writes these counts into the report, whose other members stay as they are. */
void ep_run_counts_fill(const struct run_counts *counts,
                        struct ep_stats *stats);

#endif
