/* The part of a push that is for one job. */
#include "pmix_api/push_part.h"

#include "pmix_api/wire_push.h"

/* Cuts a range down to what another one has of it; false: nothing is left. */
static bool clip(struct topo_range *range, struct topo_range by)
{
    if (range->first < by.first)
        range->first = by.first;
    if (range->last > by.last)
        range->last = by.last;
    return range->first <= range->last;
}

uint32_t px_push_part(const uint8_t *mem, struct ov_push push,
                      struct topo_range processes, bool *has_set, uint8_t *out)
{
    struct topo_range ranges[PX_PUSH_BYTES_MAX / OV_PUSH_RANGE_BYTES];
    uint16_t count = 0, flags = push.flags & (uint16_t)~OV_PUSH_NEW;
    struct ov_wr wr = ov_wr_init(out, PX_PUSH_BYTES_MAX);

    if ((push.flags & OV_PUSH_NEW) != 0)
        *has_set = false;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        if (clip(&range, processes))
            ranges[count++] = range;
    }
    if (count == 0 && !*has_set)
        return 0;
    if (!*has_set)
        flags |= OV_PUSH_NEW;
    *has_set = true;
    ov_push_encode(&wr, flags, ranges, count);
    ov_wr_bytes(&wr, mem + push.off_bytes, push.len_bytes);
    return (uint32_t)(wr.at - out);
}
