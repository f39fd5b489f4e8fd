/* Golden bytes of frames: the bytes on the wire do not change unnoticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/unit/bytes.h"

#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"

static void frame_head_has_eight_bytes(void **state)
{
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_frame_head head = {OV_FRAME_UP, 0, 0x0102, 0x11223344};

    (void)state;
    ov_frame_head_encode(&wr, &head);
    assert_bytes(&wr, mem, "02 00 0201 44332211");
}

static void record_head_has_24_bytes(void **state)
{
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_record rec = {.source = 5,
                            .rank = 0x10,
                            .seq = 0x123456789a,
                            .len_bytes = 300,
                            .job = 7,
                            .channel = OV_CHANNEL_STDERR,
                            .flags = OV_RECORD_EOF};
    struct ov_record back;
    struct ov_rd rd;

    (void)state;
    ov_record_encode(&wr, &rec);
    assert_bytes(&wr, mem,
                 "05000000 9a78563412000000 10000000 0700 02 01 2c010000");
    rd = ov_rd_init(mem, OV_RECORD_HEAD_BYTES);
    assert_int_equal(ov_record_decode(&rd, &back), 0);
    assert_memory_equal(&rec, &back, sizeof(rec));
}

static void down_head_has_24_bytes(void **state)
{
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_down down = {.stream = 1, .flags = OV_DOWN_END, .seq = 9};
    struct ov_frame_head head;
    struct ov_down back;

    (void)state;
    ov_down_encode(&wr, 0, &down, 5);
    assert_bytes(&wr, mem,
                 "03 00 0000 1d000000 01000000 01000000 0900000000000000");
    assert_int_equal(ov_frame_head_decode(mem, 29, &head), 0);
    assert_int_equal(ov_down_decode(mem, &head, &back), 0);
    assert_memory_equal(&down, &back, sizeof(down));
}

static void bad_frame_heads_are_refused(void **state)
{
    uint8_t mem[8] = {OV_FRAME_LINK, 0, 0, 0, 8, 0, 0, 0};
    struct ov_frame_head head;

    (void)state;
    assert_int_equal(ov_frame_head_decode(mem, 8, &head), 0);
    assert_int_equal(ov_frame_head_decode(mem, 7, &head), OV_EPROTO);
    mem[4] = 9;
    assert_int_equal(ov_frame_head_decode(mem, 8, &head), OV_EPROTO);
    mem[4] = 8;
    mem[0] = 0;
    assert_int_equal(ov_frame_head_decode(mem, 8, &head), OV_EPROTO);
    mem[0] = OV_FRAME_SHARED + 1;
    assert_int_equal(ov_frame_head_decode(mem, 8, &head), OV_EPROTO);
}

/* Each way in which an UP frame's table can be wrong is found. */
static void up_frames_must_add_up(void **state)
{
    uint8_t mem[128] = {0};
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_frame_head head = {OV_FRAME_UP, 0, 2, 8 + 48 + 7};
    struct ov_record rec = {
        .source = 1, .seq = 1, .len_bytes = 4, .channel = OV_CHANNEL_STDOUT};
    uint32_t payload = 0;

    (void)state;
    ov_frame_head_encode(&wr, &head);
    ov_record_encode(&wr, &rec);
    rec.len_bytes = 3;
    ov_record_encode(&wr, &rec);
    assert_int_equal(ov_up_check(mem, &head, &payload), 0);
    assert_int_equal(payload, 56);
    head.len_bytes++;
    assert_int_equal(ov_up_check(mem, &head, &payload), OV_EPROTO);
    head.len_bytes--;
    head.count = 3;
    assert_int_equal(ov_up_check(mem, &head, &payload), OV_EPROTO);
    head.count = 0;
    assert_int_equal(ov_up_check(mem, &head, &payload), OV_EPROTO);
    head.count = 2;
    mem[8 + 18] = OV_CHANNELS;
    assert_int_equal(ov_up_check(mem, &head, &payload), OV_EPROTO);
    mem[8 + 18] = OV_CHANNEL_STDOUT;
    mem[8 + 4] = 0; /* a sequence number of 0 */
    assert_int_equal(ov_up_check(mem, &head, &payload), OV_EPROTO);
}

static void open_message_names_its_nodes(void **state)
{
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_open open = {.stream = 1, .window = 8, .ranges = 2}, back;
    struct topo_range range[] = {{1, 4}, {9, 9}};
    struct ov_control control;

    (void)state;
    ov_open_encode(&wr, &open, range);
    assert_bytes(&wr, mem,
                 "01 00 0000 01000000 0800 0200 01000000 04000000 09000000"
                 "09000000");
    assert_int_equal(ov_control_decode(mem, (uint32_t)(wr.at - mem), &control),
                     0);
    assert_int_equal(ov_open_decode(&control.body, &back), 0);
    assert_int_equal(back.ranges, 2);
    assert_int_equal(ov_open_range(&control.body).last, 4);
    assert_int_equal(ov_control_decode(mem, 27, &control), 0);
    assert_int_equal(ov_open_decode(&control.body, &back), OV_EPROTO);
    mem[0] = 3;
    assert_int_equal(ov_control_decode(mem, 28, &control), OV_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_head_has_eight_bytes),
        cmocka_unit_test(record_head_has_24_bytes),
        cmocka_unit_test(down_head_has_24_bytes),
        cmocka_unit_test(bad_frame_heads_are_refused),
        cmocka_unit_test(up_frames_must_add_up),
        cmocka_unit_test(open_message_names_its_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
