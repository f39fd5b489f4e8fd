/* A set of ranks to which ranks are added in any order: a few of them in an
 * array, more as one bit for each rank of the job.
 *
 * Adding costs O(1), and once O(ranks of the job / 64). Pure, but for memory
 * that it asks for.
 */
#ifndef JOB_RANK_SET_H
#define JOB_RANK_SET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    JOB_RANK_SET_FEW = 8,
    JOB_RANK_SET_TEXT_MAX = 24, /* the most bytes of a range as text */
};

#define JOB_RANK_SET_NONE UINT32_MAX

/* All zero: the set is empty. */
struct job_rank_set {
    uint64_t *bits; /* owned; NULL: the ranks are in `few` */
    uint32_t count;
    uint32_t words;                 /* at `bits` */
    uint32_t few[JOB_RANK_SET_FEW]; /* in ascending order */
};

void job_rank_set_fini(struct job_rank_set *set);

/* Adds a rank below `ranks`, the size of the job, which is not in the set.
 * False: memory is out, and the set is as it was. */
bool job_rank_set_add(struct job_rank_set *set, uint32_t rank, uint32_t ranks);

/* Returns the least member from `from` on, or JOB_RANK_SET_NONE. */
uint32_t job_rank_set_next(const struct job_rank_set *set, uint32_t from);

/* Makes *to, which is empty, a copy. False: memory is out. */
bool job_rank_set_copy(struct job_rank_set *to,
                       const struct job_rank_set *from);

bool job_rank_set_is_equal(const struct job_rank_set *a,
                           const struct job_rank_set *b);

/* Returns the memory behind the struct. */
uint64_t job_rank_set_bytes(const struct job_rank_set *set);

/* Finds the first range of members from *first on: *first and *last are its
 * ends then. False: there is none. */
bool job_rank_set_range(const struct job_rank_set *set, uint32_t *first,
                        uint32_t *last);

#endif
