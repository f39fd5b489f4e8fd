/* A set of numbers (nodes, ranks) as sorted ranges that neither overlap nor
 * touch.
 *
 * The ranges are in memory of the caller, and a set never allocates more, so
 * the pure core can use sets. Numbers go from 0 to TOPO_NUMBER_MAX; TOPO_NONE
 * is never a member. A call that fails leaves its set as it was.
 */
#ifndef TOPO_RANGES_H
#define TOPO_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/tree.h"

#define TOPO_NUMBER_MAX (TOPO_NONE - 1)

struct topo_ranges {
    struct topo_range *items; /* borrowed; sorted, with a gap of at least one
                                 number between them */
    uint32_t count;           /* ranges in use */
    uint32_t max;             /* how many ranges the memory holds */
};

/* Where a text is wrong, and a sentence that says what to write instead. */
struct topo_fault {
    size_t at_bytes;
    const char *what;
};

/* Makes an empty set; `items` is memory for `max` ranges. */
void topo_ranges_init(struct topo_ranges *set, struct topo_range *items,
                      uint32_t max);

/* Adds all numbers of range. Cost: O(1) when the numbers are above the highest
 * range, else O(log count) and a memmove. Returns 0, OV_EINVAL when range is
 * empty or passes TOPO_NUMBER_MAX, OV_EFULL when one more range would be needed
 * than there is memory for.
 */
int topo_ranges_add(struct topo_ranges *set, struct topo_range range);

/* The most ranges that the text can need: the number of its terms. */
uint32_t topo_ranges_terms(const char *text, size_t len_bytes);

/* Replaces the set by what the text lists, for example "0,4-7,10": numbers and
 * ranges in any order; they may repeat or overlap. An empty text is a fault.
 * Returns 0, OV_EINVAL with *fault filled, or OV_EFULL (never when max is at
 * least topo_ranges_terms). On failure the set is empty.
 */
int topo_ranges_parse(struct topo_ranges *set, const char *text,
                      size_t len_bytes, struct topo_fault *fault);

/* Writes the set as text ("0-3,7", nothing for the empty set) with a NUL into
 * size_bytes bytes; it is cut off where it does not fit. Returns the length of
 * the whole text without its NUL, as snprintf does.
 */
size_t topo_ranges_format(const struct topo_ranges *set, char *text,
                          size_t size_bytes);

/* O(log count). True when the set has a member in range. */
bool topo_ranges_touches(const struct topo_ranges *set,
                         struct topo_range range);

/* O(count). How many numbers are in the set. */
uint32_t topo_ranges_size(const struct topo_ranges *set);

/* O(count). The n-th member in ascending order, counted from 0; TOPO_NONE when
 * the set has fewer members. */
uint32_t topo_ranges_nth(const struct topo_ranges *set, uint32_t n);

/* Reduces the set to at most `ranges` (at least 1) ranges by closing the
 * narrowest gaps, the highest of equal ones first. The result is the smallest
 * superset with at most `ranges` ranges. Cost: O(32 * count). */
void topo_ranges_coarsen(struct topo_ranges *set, uint32_t ranges);

#endif
