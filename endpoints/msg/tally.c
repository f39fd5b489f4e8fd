/* The sum of a channel, record by record. */
#include "config.h"

#include "endpoints/msg/tally.h"

#ifdef HAVE_XXH3_64BITS_WITHSEED_DISPATCH
#include <xxh_x86dispatch.h> /* in place of the functions of xxhash.h */
#else
#include <xxhash.h>
#endif

void ep_tally_add(struct ep_tally *tally, const void *mem, size_t len_bytes)
{
    if (len_bytes == 0)
        return;
    tally->bytes += len_bytes;
    tally->sum = XXH3_64bits_withSeed(mem, len_bytes, tally->sum);
}
