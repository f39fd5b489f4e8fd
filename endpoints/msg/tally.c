/* The sum of a channel, record by record. */
#include "config.h"

#include "endpoints/msg/tally.h"

#include "endpoints/sys/hash.h"

void ep_tally_add(struct ep_tally *tally, const void *mem, size_t len_bytes)
{
    if (len_bytes == 0)
        return;
    tally->bytes += len_bytes;
    tally->sum = ep_hash(mem, len_bytes, tally->sum);
}
