/* The hash function of everything above the core. */
#ifndef JOB_HASH_H
#define JOB_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The 64-bit XXH3 of the bytes. `seed` is the hash of the bytes before them (0:
 * none), so that parts can be added one after another. It does not protect
 * against somebody who wants two texts to have the same hash. Cost:
 * O(len_bytes); job/tally.h has figures. */
uint64_t job_hash(const void *mem, size_t len_bytes, uint64_t seed);

/* Adds the hash of one more text to the sum of some, in their order. */
uint64_t job_hash_add(uint64_t sum, uint64_t hash);

#endif
