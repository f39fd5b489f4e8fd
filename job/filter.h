/* What daemons leave out of a job's output. */
#ifndef JOB_FILTER_H
#define JOB_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "job/program.h"

enum {
    JOB_FILTER_LINES_MAX = 1000000000, /* limit of head and tail */
    JOB_FILTER_RATE_MAX = 1000000000,
};

/* All zero: nothing is left out. The rules of lines are in text/filter.h. */
struct job_filter {
    struct job_strings grep, grep_v; /* regular expressions */
    uint32_t head, tail;
    uint32_t rate;
    uint64_t budget_bytes;
    bool keeps_last; /* of progress bars the last state alone comes */
};

/* True when there are rules of lines. */
bool job_filter_has_rules(const struct job_filter *filter);

/* Copies into an empty one. Returns 0 or OV_ENOMEM. */
int job_filter_copy(struct job_filter *to, const struct job_filter *from);

void job_filter_fini(struct job_filter *filter);

#endif
