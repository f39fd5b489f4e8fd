/* Words about output from before, as bytes. */
#include "job/replay.h"

#include "overlay/base/err.h"

enum order_flag { ORDER_LAST = 1 };

enum answer_flag { ANSWER_TURN = 1, ANSWER_HEARD = 2 };

void job_replay_order_encode(struct ov_wr *wr,
                             const struct job_replay_order *order)
{
    ov_wr_u16(wr, order->ticket);
    ov_wr_u8(wr, order->channels);
    ov_wr_u8(wr, order->is_last ? ORDER_LAST : 0);
    ov_wr_u32(wr, order->bytes);
}

int job_replay_order_decode(struct ov_rd body, struct job_replay_order *out)
{
    uint8_t flags;

    out->ticket = ov_rd_u16(&body);
    out->channels = ov_rd_u8(&body);
    flags = ov_rd_u8(&body);
    out->is_last = (flags & ORDER_LAST) != 0;
    out->bytes = ov_rd_u32(&body);
    out->ranges = body;
    if (body.bad || out->ticket == 0 || (flags & ~ORDER_LAST) != 0 ||
        ov_rd_left(&body) == 0 || ov_rd_left(&body) % 8 != 0)
        return OV_EPROTO;
    return 0;
}

void job_replay_answer_encode(struct ov_wr *wr,
                              const struct job_replay_answer *answer)
{
    if (answer->heard > 0) {
        ov_wr_u32(wr, ANSWER_HEARD);
        ov_wr_u64(wr, answer->heard);
        return;
    }
    ov_wr_u32(wr, answer->is_turn ? ANSWER_TURN : 0);
    ov_wr_u64(wr, answer->dropped_bytes);
}

int job_replay_answer_decode(struct ov_rd *rd, struct job_replay_answer *out)
{
    uint32_t flags = ov_rd_u32(rd);
    uint64_t number = ov_rd_u64(rd);

    if (rd->bad || flags > ANSWER_HEARD)
        return OV_EPROTO;
    *out = (struct job_replay_answer){0};
    if (flags == ANSWER_HEARD) {
        out->heard = (uint32_t)number;
        return number == 0 || number > UINT32_MAX || ov_rd_left(rd) > 0
                   ? OV_EPROTO
                   : 0;
    }
    out->is_turn = flags == ANSWER_TURN;
    out->dropped_bytes = number;
    return 0;
}
