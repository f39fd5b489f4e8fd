/* Of the words between launcher and helper: OUTPUT. */
#include "pmix_api/wire_output.h"

#include "pmix_api/wire.h"

enum { CHANNEL_FIRST = 1, CHANNEL_LAST = 3 };

enum output_flag {
    OUTPUT_END = 1,
    OUTPUT_REDIRECTED = 2,
    OUTPUT_TURN = 4,
    OUTPUT_SHARED = 8,
    OUTPUT_ALL = 15,
};

static void put_head(struct ov_wr *wr, const struct px_output *output)
{
    ov_wr_u32(wr, output->rank);
    ov_wr_u8(wr, output->channel);
    ov_wr_u8(wr, (uint8_t)((output->is_end ? OUTPUT_END : 0) |
                           (output->is_redirected ? OUTPUT_REDIRECTED : 0) |
                           (output->is_turn ? OUTPUT_TURN : 0) |
                           (output->is_shared ? OUTPUT_SHARED : 0)));
    ov_wr_u32(wr, output->to);
    ov_wr_u64(wr, output->dropped_bytes);
    ov_wr_u64(wr, output->before_bytes);
    ov_wr_u32(wr, output->len_bytes);
    if (output->is_shared)
        ov_wr_u64(wr, output->at);
}

void px_output_encode_head(struct ov_wr *wr, const struct px_output *output)
{
    ov_wr_u8(wr, PX_OUTPUT);
    put_head(wr, output);
}

void px_output_encode(struct ov_wr *wr, const struct px_output *output)
{
    put_head(wr, output);
    if (!output->is_shared)
        ov_wr_bytes(wr, output->mem, output->len_bytes);
}

void px_output_decode(struct ov_rd *rd, struct px_output *output)
{
    uint8_t flags;

    *output = (struct px_output){.rank = ov_rd_u32(rd)};
    output->channel = ov_rd_u8(rd);
    flags = ov_rd_u8(rd);
    output->is_end = (flags & OUTPUT_END) != 0;
    output->is_redirected = (flags & OUTPUT_REDIRECTED) != 0;
    output->is_turn = (flags & OUTPUT_TURN) != 0;
    output->is_shared = (flags & OUTPUT_SHARED) != 0;
    output->to = ov_rd_u32(rd);
    output->dropped_bytes = ov_rd_u64(rd);
    output->before_bytes = ov_rd_u64(rd);
    output->len_bytes = ov_rd_u32(rd);
    if (output->channel < CHANNEL_FIRST || output->channel > CHANNEL_LAST ||
        (flags & ~OUTPUT_ALL) != 0 || output->len_bytes > PX_OUTPUT_BYTES_MAX)
        rd->bad = true;
    else if (output->is_shared)
        output->at = ov_rd_u64(rd);
    else
        output->mem = ov_rd_bytes(rd, output->len_bytes);
}
