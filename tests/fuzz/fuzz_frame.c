/* Whole frames: what decodes encodes to the same bytes again, and the lengths
 * of an UP frame lie inside it.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/wire/frame.h"

static void check_head(const uint8_t *mem, const struct ov_frame_head *head)
{
    uint8_t again[OV_FRAME_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));

    ov_frame_head_encode(&wr, head);
    FUZZ_CHECK(!wr.bad && wr.at == wr.end);
    FUZZ_CHECK(memcmp(again, mem, sizeof(again)) == 0);
}

static void check_record(struct ov_rd *rd, uint64_t *payload_bytes)
{
    const uint8_t *at = rd->at;
    uint8_t again[OV_RECORD_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct ov_record rec;

    FUZZ_CHECK(ov_record_decode(rd, &rec) == 0);
    ov_record_encode(&wr, &rec);
    FUZZ_CHECK(!wr.bad && wr.at == wr.end);
    FUZZ_CHECK(memcmp(again, at, sizeof(again)) == 0);
    *payload_bytes += rec.len_bytes;
}

static void check_up(const uint8_t *mem, const struct ov_frame_head *head)
{
    uint64_t payload_bytes = 0;
    uint32_t payload_off;
    struct ov_rd rd;

    if (ov_up_check(mem, head, &payload_off))
        return;
    FUZZ_CHECK(payload_off <= head->len_bytes);
    rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES,
                    payload_off - OV_FRAME_HEAD_BYTES);
    for (unsigned i = 0; i < head->count; i++)
        check_record(&rd, &payload_bytes);
    FUZZ_CHECK(ov_rd_left(&rd) == 0);
    FUZZ_CHECK(payload_off + payload_bytes == head->len_bytes);
}

static void check_down(const uint8_t *mem, const struct ov_frame_head *head)
{
    uint8_t again[OV_DOWN_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct ov_down down;

    if (ov_down_decode(mem, head, &down))
        return;
    ov_down_encode(&wr, head->tree, &down,
                   head->len_bytes - OV_DOWN_HEAD_BYTES);
    FUZZ_CHECK(!wr.bad && wr.at == wr.end);
    /* `count` says nothing in a DOWN frame and is not kept. */
    FUZZ_CHECK(memcmp(again, mem, 2) == 0);
    FUZZ_CHECK(memcmp(again + 4, mem + 4, sizeof(again) - 4) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct ov_frame_head head;

    if (ov_frame_head_decode(mem, (uint32_t)len_bytes, &head))
        return 0;
    check_head(mem, &head);
    if (head.type == OV_FRAME_UP)
        check_up(mem, &head);
    if (head.type == OV_FRAME_DOWN)
        check_down(mem, &head);
    return 0;
}
