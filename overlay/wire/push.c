/* Encodes and decodes messages with bytes for some processes. */
#include "overlay/wire/push.h"

#include "overlay/base/err.h"

void ov_push_encode(struct ov_wr *wr, uint16_t flags,
                    const struct topo_range *range, uint16_t ranges)
{
    ov_wr_u16(wr, flags);
    ov_wr_u16(wr, ranges);
    for (unsigned i = 0; i < ranges; i++) {
        ov_wr_u32(wr, range[i].first);
        ov_wr_u32(wr, range[i].last);
    }
}

struct topo_range ov_push_range(struct ov_push *push)
{
    struct topo_range range;

    range.first = ov_rd_u32(&push->set);
    range.last = ov_rd_u32(&push->set);
    return range;
}

static bool ascends(struct ov_push push)
{
    uint64_t next = 0;

    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        if (range.first < next || range.last < range.first)
            return false;
        next = (uint64_t)range.last + 1;
    }
    return true;
}

int ov_push_decode(const uint8_t *mem, uint32_t len_bytes, struct ov_push *out)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    uint32_t set_bytes;

    out->flags = ov_rd_u16(&rd);
    out->ranges = ov_rd_u16(&rd);
    set_bytes = (uint32_t)out->ranges * OV_PUSH_RANGE_BYTES;
    if (rd.bad || (out->flags & ~(unsigned)OV_PUSH_FLAGS) != 0 ||
        ov_rd_left(&rd) < set_bytes)
        return OV_EPROTO;
    out->set = ov_rd_init(mem + OV_PUSH_HEAD_BYTES, set_bytes);
    out->off_bytes = OV_PUSH_HEAD_BYTES + set_bytes;
    out->len_bytes = len_bytes - out->off_bytes;
    if ((out->flags & OV_PUSH_MORE) != 0 &&
        (out->len_bytes > 0 || (out->flags & OV_PUSH_CLOSE) != 0))
        return OV_EPROTO;
    return ascends(*out) ? 0 : OV_EPROTO;
}
