/* Random numbers of the simulator: integers made from a seed.
 *
 * splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014).
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

static inline uint64_t sim_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t sim_random_next(struct sim_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return sim_random_mix(random->state);
}

/* A number from low to high, both included. */
static inline uint64_t sim_random_in(struct sim_random *random, uint64_t low,
                                     uint64_t high)
{
    return low + sim_random_next(random) % (high - low + 1);
}

/* Returns true in `percent` of all cases. */
static inline bool sim_random_is(struct sim_random *random, uint32_t percent)
{
    return sim_random_in(random, 0, 99) < percent;
}

#endif
