/* Keeps ranks in an array until there are too many. */
#include "config.h"

#include "job/rank_set.h"

#include <stdlib.h>
#include <string.h>

void job_rank_set_fini(struct job_rank_set *set)
{
    free(set->bits);
    *set = (struct job_rank_set){.bits = NULL};
}

static void bit_set(struct job_rank_set *set, uint32_t rank)
{
    set->bits[rank / 64] |= UINT64_C(1) << rank % 64;
}

static bool widen(struct job_rank_set *set, uint32_t ranks)
{
    set->words = (ranks + 63) / 64;
    set->bits = calloc(set->words, sizeof(*set->bits));
    if (set->bits == NULL)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        bit_set(set, set->few[i]);
    return true;
}

bool job_rank_set_add(struct job_rank_set *set, uint32_t rank, uint32_t ranks)
{
    uint32_t at = set->count;

    if (set->bits == NULL && at == JOB_RANK_SET_FEW && !widen(set, ranks))
        return false;
    set->count++;
    if (set->bits != NULL) {
        bit_set(set, rank);
        return true;
    }
    for (; at > 0 && set->few[at - 1] > rank; at--)
        set->few[at] = set->few[at - 1];
    set->few[at] = rank;
    return true;
}

uint32_t job_rank_set_next(const struct job_rank_set *set, uint32_t from)
{
    uint64_t word;

    if (set->bits == NULL) {
        for (uint32_t i = 0; i < set->count; i++) {
            if (set->few[i] >= from)
                return set->few[i];
        }
        return JOB_RANK_SET_NONE;
    }
    if (from / 64 >= set->words)
        return JOB_RANK_SET_NONE;
    word = set->bits[from / 64] & UINT64_MAX << from % 64;
    for (uint32_t i = from / 64;;) {
        if (word != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(word);
        if (++i == set->words)
            return JOB_RANK_SET_NONE;
        word = set->bits[i];
    }
}

bool job_rank_set_copy(struct job_rank_set *to, const struct job_rank_set *from)
{
    *to = *from;
    if (from->bits == NULL)
        return true;
    to->bits = malloc(from->words * sizeof(*to->bits));
    if (to->bits == NULL) {
        *to = (struct job_rank_set){.bits = NULL};
        return false;
    }
    memcpy(to->bits, from->bits, from->words * sizeof(*to->bits));
    return true;
}

bool job_rank_set_is_equal(const struct job_rank_set *a,
                           const struct job_rank_set *b)
{
    if (a->count != b->count || (a->bits == NULL) != (b->bits == NULL))
        return false;
    if (a->bits == NULL)
        return memcmp(a->few, b->few, a->count * sizeof(a->few[0])) == 0;
    return a->words == b->words &&
           memcmp(a->bits, b->bits, a->words * sizeof(a->bits[0])) == 0;
}

uint64_t job_rank_set_bytes(const struct job_rank_set *set)
{
    return set->bits == NULL ? 0 : set->words * sizeof(set->bits[0]);
}

bool job_rank_set_range(const struct job_rank_set *set, uint32_t *first,
                        uint32_t *last)
{
    *first = *last = job_rank_set_next(set, *first);
    if (*first == JOB_RANK_SET_NONE)
        return false;
    while (job_rank_set_next(set, *last + 1) == *last + 1)
        ++*last;
    return true;
}
