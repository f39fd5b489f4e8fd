/* Encodes and decodes frame heads, and checks UP frames. */
#include "overlay/wire/frame.h"

#include "overlay/base/err.h"

void ov_frame_head_encode(struct ov_wr *wr, const struct ov_frame_head *head)
{
    ov_wr_u8(wr, head->type);
    ov_wr_u8(wr, head->tree);
    ov_wr_u16(wr, head->count);
    ov_wr_u32(wr, head->len_bytes);
}

int ov_frame_head_decode(const uint8_t *mem, uint32_t len_bytes,
                         struct ov_frame_head *head)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);

    head->type = ov_rd_u8(&rd);
    head->tree = ov_rd_u8(&rd);
    head->count = ov_rd_u16(&rd);
    head->len_bytes = ov_rd_u32(&rd);
    if (rd.bad || head->len_bytes != len_bytes)
        return OV_EPROTO;
    if (head->type < OV_FRAME_LINK || head->type > OV_FRAME_SHARED)
        return OV_EPROTO;
    return 0;
}

void ov_record_encode(struct ov_wr *wr, const struct ov_record *rec)
{
    ov_wr_u32(wr, rec->source);
    ov_wr_u64(wr, rec->seq);
    ov_wr_u32(wr, rec->rank);
    ov_wr_u16(wr, rec->job);
    ov_wr_u8(wr, rec->channel);
    ov_wr_u8(wr, rec->flags);
    ov_wr_u32(wr, rec->len_bytes);
}

int ov_record_decode(struct ov_rd *rd, struct ov_record *rec)
{
    rec->source = ov_rd_u32(rd);
    rec->seq = ov_rd_u64(rd);
    rec->rank = ov_rd_u32(rd);
    rec->job = ov_rd_u16(rd);
    rec->channel = ov_rd_u8(rd);
    rec->flags = ov_rd_u8(rd);
    rec->len_bytes = ov_rd_u32(rd);
    if (rd->bad || rec->seq == 0 || rec->channel >= OV_CHANNELS ||
        (rec->flags & ~OV_RECORD_FLAGS) != 0)
        return OV_EPROTO;
    return 0;
}

int ov_up_check(const uint8_t *mem, const struct ov_frame_head *head,
                uint32_t *payload_off)
{
    uint64_t table = (uint64_t)head->count * OV_RECORD_HEAD_BYTES;
    uint64_t at = OV_FRAME_HEAD_BYTES + table;
    struct ov_record rec;
    struct ov_rd rd;

    if (at > head->len_bytes)
        return OV_EPROTO;
    *payload_off = (uint32_t)at;
    rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES, table);
    for (unsigned i = 0; i < head->count; i++) {
        if (ov_record_decode(&rd, &rec))
            return OV_EPROTO;
        at += rec.len_bytes;
    }
    return at == head->len_bytes ? 0 : OV_EPROTO;
}

void ov_down_encode(struct ov_wr *wr, uint8_t tree, const struct ov_down *down,
                    uint32_t payload_bytes)
{
    struct ov_frame_head head = {
        .type = OV_FRAME_DOWN,
        .tree = tree,
        .len_bytes = OV_DOWN_HEAD_BYTES + payload_bytes,
    };

    ov_frame_head_encode(wr, &head);
    ov_wr_u32(wr, down->stream);
    ov_wr_u32(wr, down->flags);
    ov_wr_u64(wr, down->seq);
}

int ov_down_decode(const uint8_t *mem, const struct ov_frame_head *head,
                   struct ov_down *down)
{
    struct ov_rd rd;

    if (head->len_bytes < OV_DOWN_HEAD_BYTES)
        return OV_EPROTO;
    rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES,
                    OV_DOWN_HEAD_BYTES - OV_FRAME_HEAD_BYTES);
    down->stream = ov_rd_u32(&rd);
    down->flags = ov_rd_u32(&rd);
    down->seq = ov_rd_u64(&rd);
    return (down->flags & ~(uint32_t)OV_DOWN_FLAGS) == 0 ? 0 : OV_EPROTO;
}
