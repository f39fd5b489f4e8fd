/* Builds the output of a step: adds actions, slices and head bytes. */
#include "overlay/out.h"

void ov_out_reset(struct ov_out *out)
{
    out->acts_count = 0;
    out->slices_count = 0;
    out->head_bytes = 0;
    out->freed = NULL;
    out->wake_ns = OV_NEVER;
    out->more = false;
}

bool ov_out_has_room(const struct ov_out *out)
{
    return out->acts_count + 8 <= OV_OUT_ACTS &&
           out->slices_count + OV_FOLD_SLICES <= OV_OUT_SLICES &&
           out->head_bytes + OV_FOLD_HEAD_BYTES <= OV_OUT_HEAD_BYTES;
}

struct ov_act *ov_out_act(struct ov_out *out, enum ov_act_kind kind)
{
    struct ov_act *act = &out->acts[out->acts_count];

    OV_ASSERT(out->acts_count < OV_OUT_ACTS);
    out->acts_count++;
    *act = (struct ov_act){.kind = kind};
    act->slice_first = out->slices_count;
    act->head_first = out->head_bytes;
    return act;
}

void ov_out_slice(struct ov_out *out, struct ov_act *act, struct ov_buf *buf,
                  uint32_t off_bytes, uint32_t len_bytes)
{
    struct ov_slice *last = &out->slice[out->slices_count];

    OV_ASSERT(act->slice_first + act->slices == out->slices_count);
    if (act->slices > 0 && last[-1].buf == buf &&
        last[-1].off_bytes + last[-1].len_bytes == off_bytes) {
        last[-1].len_bytes += len_bytes;
        ov_out_put(out, buf);
        return;
    }
    OV_ASSERT(out->slices_count < OV_OUT_SLICES);
    *last = (struct ov_slice){buf, off_bytes, len_bytes};
    out->slices_count++;
    act->slices++;
}

struct ov_wr ov_out_head(struct ov_out *out)
{
    return ov_wr_init(out->head + out->head_bytes,
                      OV_OUT_HEAD_BYTES - out->head_bytes);
}

void ov_out_head_done(struct ov_out *out, struct ov_act *act,
                      const struct ov_wr *wr)
{
    uint32_t end = (uint32_t)(wr->at - out->head);

    OV_ASSERT(!wr->bad);
    OV_ASSERT(act->head_first == out->head_bytes);
    act->head_bytes = (uint16_t)(end - act->head_first);
    out->head_bytes = end;
}

void ov_out_put(struct ov_out *out, struct ov_buf *buf)
{
    if (ov_buf_unref(buf)) {
        buf->next = out->freed;
        out->freed = buf;
    }
}
