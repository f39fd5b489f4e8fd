/* Adds the records of a channel to its tally. */
#include "config.h"

#include "job/tally.h"

#include "job/hash.h"

void job_tally_add(struct job_tally *tally, const void *mem, size_t len_bytes)
{
    if (len_bytes == 0)
        return;
    tally->bytes += len_bytes;
    tally->sum = job_hash(mem, len_bytes, tally->sum);
}
