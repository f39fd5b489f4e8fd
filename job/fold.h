/* Folds lines: of the lines of all ranks on one channel, those that are equal
 * become a group, which is shown once, with the ranks that said it.
 *
 * The open groups are in one order, and each rank has a place in it: behind the
 * last group that it shares with another rank. Its next line joins the first
 * group after that place with the same text. Groups of this rank alone which
 * come after that place are no hindrance: they are put in front of the group
 * that is joined. A line for which there is no such group begins one, the last
 * of all. Groups leave from the front alone, so the lines of a rank keep their
 * order, whatever those of the others are.
 *
 * The first group is final, and leaves, when no rank that is awaited can join
 * it any more, when a group has been open for wait_ns, and when the groups take
 * more than max_bytes. A rank that says a line later than that begins a new
 * group.
 *
 * Pure, but for memory that it asks for: time comes as an argument. A line
 * costs O(len_bytes), one hash of it, and a bounded search. A text is kept
 * once.
 */
#ifndef JOB_FOLD_H
#define JOB_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "job/rank_set.h"
#include "job/texts.h"

struct job_fold;

struct job_fold_cfg {
    uint32_t ranks;     /* of the job */
    uint64_t wait_ns;   /* how long a group may be open */
    uint64_t max_bytes; /* of memory for groups and their texts */
};

struct job_fold_group {
    struct job_fold_group *next; /* the next open group; of one that has left:
                                    the caller's */
    struct job_fold_group *prev;
    struct job_text *text; /* the line, with its newline if it has one */
    struct job_rank_set members;
    uint64_t first_ns; /* when its first line came */
    uint64_t time_ns;  /* the same, since 1970, as the caller has said */
    /* The rest is for the fold alone. */
    uint64_t label; /* ascends in the order of groups */
    struct job_fold_group *older, *newer;
    struct job_fold_group *same_prev, *same_next; /* with the same text */
    struct job_fold_group *own_prev, *own_next;   /* of one rank alone */
};

/* Opens a fold, in which all ranks are awaited. Returns 0 or OV_ENOMEM. */
int job_fold_open(const struct job_fold_cfg *cfg, struct job_fold **out);

/* Frees the fold and its open groups. Those that have left must have been
 * freed. NULL is fine. */
void job_fold_close(struct job_fold *fold);

/* Adds a line of a rank, or a piece of one: any bytes, which are copied, and
 * their job_hash() with the seed 0. Returns 0 or OV_ENOMEM. */
int job_fold_add(struct job_fold *fold, uint32_t rank, const uint8_t *mem,
                 uint32_t len_bytes, uint64_t hash, uint64_t now_ns,
                 uint64_t time_ns);

/* Says that no further line of the rank comes. May be called again. */
void job_fold_end(struct job_fold *fold, uint32_t rank);

/* Makes all groups final up to the last one with this rank; all of them. */
void job_fold_flush_rank(struct job_fold *fold, uint32_t rank);
void job_fold_flush(struct job_fold *fold);

/* Takes out the first group if it is final; NULL: it is not, or there is none.
 * The caller ends it by job_fold_free(). O(members). */
struct job_fold_group *job_fold_pop(struct job_fold *fold, uint64_t now_ns);
void job_fold_free(struct job_fold *fold, struct job_fold_group *group);

/* Returns the first open group; NULL: there is none. The others follow by
 * `next`. It is valid until the next call with this fold. */
const struct job_fold_group *job_fold_first(const struct job_fold *fold);

/* Returns when the time makes a group final; UINT64_MAX: there is none. */
uint64_t job_fold_deadline(const struct job_fold *fold);

/* Returns the memory of groups and texts, of those, too, that have left and are
 * not freed. */
uint64_t job_fold_bytes(const struct job_fold *fold);

#endif
