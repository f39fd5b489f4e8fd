/* Whole outputs: ranks whose output on a channel is equal from beginning to end
 * are together.
 *
 * Outputs are kept as a tree, in which each line follows the one before it, and
 * a rank is at its last line. So what many ranks have said is kept once, as far
 * as they agree. Pure, but for memory that it asks for. A line costs
 * O(len_bytes) and one hash of it.
 */
#ifndef JOB_WHOLES_H
#define JOB_WHOLES_H

#include <stdint.h>

#include "job/rank_set.h"
#include "job/texts.h"

struct job_wholes;

/* Ranks with equal output. */
struct job_whole {
    struct job_rank_set members;
    struct job_text **lines; /* owned: in order, with their newlines */
    uint32_t lines_count;
    uint64_t sum; /* of the lines: job_hash_add() */
};

/* Opens wholes, which may take max_bytes of memory. Returns 0 or OV_ENOMEM. */
int job_wholes_open(uint32_t ranks, uint64_t max_bytes,
                    struct job_wholes **out);
void job_wholes_close(struct job_wholes *all); /* NULL is fine */

/* Adds a line of a rank, or a piece of one, of which `hash` is the job_hash()
 * with the seed 0. Returns 0, OV_EFULL or OV_ENOMEM; the line was then not
 * added. */
int job_wholes_add(struct job_wholes *all, uint32_t rank, const uint8_t *mem,
                   uint32_t len_bytes, uint64_t hash);

/* Returns the lowest rank of those whose output most ranks have; 0 when there
 * is no output. O(ranks). */
uint32_t job_wholes_most(const struct job_wholes *all);

/* Makes the whole output of a rank, with all ranks that have the same. The
 * caller ends it by job_whole_free(); its lines belong to the wholes. Returns
 * 0, OV_ENOENT: the rank has no output, or that was made before; or OV_ENOMEM.
 * O(ranks + lines). */
int job_wholes_make(struct job_wholes *all, uint32_t rank,
                    struct job_whole **out);

/* Makes the next one that was not made, by the lowest of its ranks. Returns as
 * job_wholes_make(); OV_ENOENT: there is no further one. */
int job_wholes_next(struct job_wholes *all, struct job_whole **out);
void job_whole_free(struct job_whole *whole); /* NULL is fine */

#endif
