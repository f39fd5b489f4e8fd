/* The sum of a channel, record by record. */
#include "endpoints/msg/tally.h"

#include <xxhash.h>

void ep_tally_add(struct ep_tally *tally, const void *mem, size_t len_bytes)
{
    if (len_bytes == 0)
        return;
    tally->bytes += len_bytes;
    tally->sum = XXH3_64bits_withSeed(mem, len_bytes, tally->sum);
}
