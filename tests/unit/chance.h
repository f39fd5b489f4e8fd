/* Random numbers of tests: from a seed that is printed, or from $SEED.
 *
 *     struct chance chance = chance_start(7);      prints "seed 7"
 *
 * SEED=n in the environment replaces the test's own seed.
 */
#ifndef TESTS_UNIT_CHANCE_H
#define TESTS_UNIT_CHANCE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct chance {
    uint64_t state;
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number from low to high, both included. */
static inline uint32_t chance_in(struct chance *chance, uint32_t low,
                                 uint32_t high)
{
    return low + (uint32_t)(chance_next(chance) % ((uint64_t)high - low + 1));
}

/* True in `percent` of all cases. */
static inline bool chance_is(struct chance *chance, uint32_t percent)
{
    return chance_in(chance, 0, 99) < percent;
}

static inline struct chance chance_from(uint64_t seed)
{
    struct chance chance = {seed};

    chance_next(&chance);
    return chance;
}

/* Reads $SEED, a seed to repeat; false: it is not set. */
static inline bool chance_given(uint64_t *seed)
{
    const char *text = getenv("SEED");

    if (text == NULL || *text == '\0')
        return false;
    *seed = strtoull(text, NULL, 0);
    return true;
}

static inline struct chance chance_start(uint64_t seed)
{
    chance_given(&seed);
    printf("seed %" PRIu64 "\n", seed);
    return chance_from(seed);
}

#endif
