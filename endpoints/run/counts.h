/* What a run counts, for the report of --stats. */
#ifndef ENDPOINTS_RUN_COUNTS_H
#define ENDPOINTS_RUN_COUNTS_H

#include <stdint.h>

#include "job/word.h"

struct ep_stats;

/* All zero: nothing yet. */
struct run_counts {
    uint64_t launch_ns; /* from the start until every process ran; 0: not so */
    uint64_t output_bytes[OV_CHANNELS]; /* of the run's own processes, come */
    struct job_usage daemons; /* of all: sums, and of the peaks the largest */
    uint64_t repairs;         /* nodes that found a new parent */
    uint64_t repair_us_max;   /* that one was without */
};

/* A daemon's word of what it has used since its last one. */
void ep_run_counts_usage(struct run_counts *counts,
                         const struct job_usage *usage);
/* A node was without a parent for so long. */
void ep_run_counts_repair(struct run_counts *counts, uint64_t away_us);
/* Puts into the report what comes from here, and leaves the rest as it is. */
void ep_run_counts_fill(const struct run_counts *counts,
                        struct ep_stats *stats);

#endif
