/* How far output has come that nobody numbers on its way.
 *
 * A pull's bytes are counted when they come in, and those that are still here
 * when they are asked for. A trail says where in the order of all redirected
 * output a byte of the pull stands, by its number among the pull's own: from a
 * mark now and then, not further than it is sure.
 *
 * Not thread-safe. O(1) amortised.
 */
#ifndef PMIX_API_HELPER_TRAIL_H
#define PMIX_API_HELPER_TRAIL_H

#include <stdint.h>

enum {
    TRAIL_MARKS = 256,
    TRAIL_STEP_BYTES = 16 * 1024, /* from mark to mark; more, where there are
                                     too many for that */
};

struct px_trail_mark {
    uint64_t own;      /* so many of the pull's bytes came before */
    uint64_t position; /* and so many of all */
};

/* All zero: nothing has come yet. */
struct px_trail {
    struct px_trail_mark marks[TRAIL_MARKS]; /* a ring, ascending */
    unsigned first, used;
    uint64_t step_bytes;       /* 0: the usual */
    struct px_trail_mark last; /* that was passed */
};

/* Bytes of the pull come in: own of them, and position of all, came before. */
void px_trail_note(struct px_trail *trail, struct px_trail_mark mark);

/* Of the pull's bytes the first `own` have gone on, not less than at the last
 * call: returns the position that all of them have passed. */
uint64_t px_trail_pass(struct px_trail *trail, uint64_t own);

/* The same, for a look ahead. O(TRAIL_MARKS). */
uint64_t px_trail_see(const struct px_trail *trail, uint64_t own);

#endif
