/* Whole frames: a frame that decodes encodes to the same bytes, and the lengths
 * in an UP frame stay within the frame. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/wire/shared.h"

enum { RECORDS_READ = 10000 };

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

/* Reads the records of a frame, the first of them where they are very many:
 * each payload lies inside the frame. */
static void read_records(const uint8_t *mem, const struct ov_frame_head *head)
{
    struct ov_up_at at = ov_up_begin(mem, head->len_bytes);
    struct ov_record rec;

    for (unsigned i = 0; i < RECORDS_READ && at.left > 0; i++) {
        uint32_t off = ov_up_next(mem, head->len_bytes, &at, &rec);

        FUZZ_CHECK(off <= head->len_bytes);
        FUZZ_CHECK(rec.len_bytes <= head->len_bytes - off);
        FUZZ_CHECK(rec.seq > 0);
    }
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
    read_records(mem, head);
}

static void check_shared(const uint8_t *mem, const struct ov_frame_head *head)
{
    struct ov_shared shared;
    struct ov_run run;
    struct ov_rd rd;

    if (ov_shared_decode(mem, head, &shared))
        return;
    rd = ov_rd_init(mem + shared.runs_off, shared.lines_off - shared.runs_off);
    for (uint32_t i = 0; i < shared.runs; i++) {
        const uint8_t *at = rd.at;
        uint8_t again[OV_RUN_MANY_BYTES];
        struct ov_wr wr = ov_wr_init(again, sizeof(again));

        FUZZ_CHECK(ov_run_decode(&rd, &run) == 0);
        ov_run_encode(&wr, &run);
        FUZZ_CHECK(!wr.bad && wr.at - again == rd.at - at);
        FUZZ_CHECK(memcmp(again, at, (size_t)(rd.at - at)) == 0);
    }
    FUZZ_CHECK(ov_rd_left(&rd) == 0);
    read_records(mem, head);
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
    /* `count` has no meaning in a DOWN frame, so it is not kept. */
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
    if (head.type == OV_FRAME_SHARED)
        check_shared(mem, &head);
    if (head.type == OV_FRAME_DOWN)
        check_down(mem, &head);
    return 0;
}
