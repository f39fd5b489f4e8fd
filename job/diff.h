/* What differs between two sequences of texts that are kept once each
 * (job/texts.h), so that equal ones are known by their address.
 *
 * Pure, but for memory that it asks for. Cost: O(count + n * m), where n and m
 * are the lengths without what is equal at the beginning and the end. Where n *
 * m is more than JOB_DIFF_CELLS_MAX, all of that counts as different.
 */
#ifndef JOB_DIFF_H
#define JOB_DIFF_H

#include <stdint.h>

struct job_text;

enum { JOB_DIFF_CELLS_MAX = 1 << 22 };

/* The texts [from, from + from_count) of the one sequence are [to, to +
 * to_count) in the other one. */
struct job_diff_hunk {
    uint32_t from, from_count, to, to_count;
};

struct job_diff_side {
    struct job_text *const *at;
    uint32_t count;
};

/* Finds the hunks, in their order. *out is the caller's, to be freed by free(),
 * and NULL when there is no hunk. Returns 0 or OV_ENOMEM. */
int job_diff(const struct job_diff_side *from, const struct job_diff_side *to,
             struct job_diff_hunk **out, uint32_t *count);

#endif
