/* Records which channels of a further job send their output up the tree. */
#include "job/subscription.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct job_subscription {
    uint32_t size;
    uint8_t *dropped; /* owned [size]: bits, 1 << channel, of each rank's
                         channels whose output is dropped */
    uint64_t unwanted_bytes;
};

int job_subscription_open(uint32_t size, struct job_subscription **out)
{
    struct job_subscription *sub = calloc(1, sizeof(*sub));

    *out = sub;
    if (sub == NULL)
        return OV_ENOMEM;
    sub->size = size;
    sub->dropped = calloc(size, sizeof(*sub->dropped));
    return sub->dropped == NULL ? OV_ENOMEM : 0;
}

void job_subscription_close(struct job_subscription *sub)
{
    if (sub != NULL)
        free(sub->dropped);
    free(sub);
}

bool job_subscription_unwanted(struct job_subscription *sub, uint32_t rank,
                               uint8_t channel, uint32_t len_bytes)
{
    OV_ASSERT(rank < sub->size);
    if ((sub->dropped[rank] & 1u << channel) != 0)
        return false;
    sub->unwanted_bytes += len_bytes;
    if (sub->unwanted_bytes < JOB_UNWANTED_BYTES)
        return false;
    sub->unwanted_bytes = 0;
    return true;
}

bool job_subscription_turn(struct job_subscription *sub, uint32_t rank,
                           uint8_t channel, bool is_wanted, bool is_to_send)
{
    const uint8_t bit = (uint8_t)(1u << channel);

    OV_ASSERT(rank < sub->size);
    if (is_wanted != is_to_send ||
        ((sub->dropped[rank] & bit) != 0) != is_to_send)
        return false;
    sub->dropped[rank] ^= bit;
    return true;
}
