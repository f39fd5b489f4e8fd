/* Encodes and decodes the messages on stream 0. */
#include "overlay/control.h"

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

void ov_control_encode(struct ov_wr *wr, uint8_t kind, bool more)
{
    ov_wr_u8(wr, kind);
    ov_wr_u8(wr, more ? 1 : 0);
    ov_wr_u16(wr, 0);
}

int ov_control_decode(const uint8_t *mem, uint32_t len_bytes,
                      struct ov_control *control)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    uint8_t more;

    control->kind = ov_rd_u8(&rd);
    more = ov_rd_u8(&rd);
    ov_rd_u16(&rd);
    if (rd.bad || more > 1)
        return OV_EPROTO;
    if (control->kind != OV_CONTROL_OPEN &&
        control->kind != OV_CONTROL_GOODBYE && control->kind < OV_CONTROL_APP)
        return OV_EPROTO;
    control->more = more == 1;
    control->body = rd;
    return 0;
}

void ov_open_encode(struct ov_wr *wr, const struct ov_open *open,
                    const struct topo_range *range)
{
    OV_ASSERT(open->ranges <= OV_OPEN_RANGES_MAX);
    ov_control_encode(wr, OV_CONTROL_OPEN, false);
    ov_wr_u32(wr, open->stream);
    ov_wr_u16(wr, open->window);
    ov_wr_u16(wr, open->ranges);
    for (unsigned i = 0; i < open->ranges; i++) {
        ov_wr_u32(wr, range[i].first);
        ov_wr_u32(wr, range[i].last);
    }
}

int ov_open_decode(struct ov_rd *body, struct ov_open *open)
{
    open->stream = ov_rd_u32(body);
    open->window = ov_rd_u16(body);
    open->ranges = ov_rd_u16(body);
    if (body->bad || open->stream == 0 || open->window == 0 ||
        open->ranges > OV_OPEN_RANGES_MAX ||
        ov_rd_left(body) != (size_t)open->ranges * 8)
        return OV_EPROTO;
    return 0;
}

struct topo_range ov_open_range(struct ov_rd *body)
{
    struct topo_range range;

    range.first = ov_rd_u32(body);
    range.last = ov_rd_u32(body);
    return range;
}
