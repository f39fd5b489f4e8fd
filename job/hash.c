/* Hashes with xxhash, whose variant for this processor is chosen once, at the
 * first use. */
#include "config.h"

#include "job/hash.h"

#ifdef HAVE_XXH3_64BITS_WITHSEED_DISPATCH
#include <xxh_x86dispatch.h> /* replaces the functions of xxhash.h */
#else
#include <xxhash.h>
#endif

uint64_t job_hash(const void *mem, size_t len_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(mem, len_bytes, seed);
}

uint64_t job_hash_add(uint64_t sum, uint64_t hash)
{
    return ((sum << 7 | sum >> 57) ^ hash) * UINT64_C(0x9e3779b97f4a7c15);
}
