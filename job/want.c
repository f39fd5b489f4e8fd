/* What is wanted, as bytes. */
#include "job/want.h"

#include "overlay/base/err.h"

enum order_flag { ORDER_WANTED = 1, ORDER_HELD_BACK = 2 };

void job_want_order_encode(struct ov_wr *wr, const struct job_want_order *order)
{
    ov_wr_u8(wr, order->channels);
    ov_wr_u8(wr, (uint8_t)((order->is_wanted ? ORDER_WANTED : 0) |
                           (order->is_held_back ? ORDER_HELD_BACK : 0)));
}

int job_want_order_decode(struct ov_rd body, struct job_want_order *out)
{
    uint8_t flags;

    out->channels = ov_rd_u8(&body);
    flags = ov_rd_u8(&body);
    out->is_wanted = (flags & ORDER_WANTED) != 0;
    out->is_held_back = (flags & ORDER_HELD_BACK) != 0;
    out->ranges = body;
    if (body.bad || (flags & ~(ORDER_WANTED | ORDER_HELD_BACK)) != 0 ||
        flags == ORDER_HELD_BACK || ov_rd_left(&body) == 0 ||
        ov_rd_left(&body) % 8 != 0)
        return OV_EPROTO;
    return 0;
}
