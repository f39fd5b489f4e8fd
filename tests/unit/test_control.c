/* Messages on stream 0, byte for byte. */
#include "overlay/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static const uint8_t golden_open[] = {
    1,    0,    0,    0, /* OPEN; no other message follows */
    1,    0,    0,    0,
    32,   0,    2,    0, /* stream, window, number of ranges */
    1,    0,    0,    0,
    4,    0,    0,    0, /* the range 1 to 4 */
    9,    0x01, 0x02, 0x03,
    0xff, 0xff, 4,    5,
};

static void an_open_is_these_bytes(void **state)
{
    const struct topo_range ranges[] = {{1, 4}, {0x03020109, 0x0504ffff}};
    const struct ov_open open = {.stream = 1, .window = 32, .ranges = 2};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    ov_open_encode(&wr, &open, ranges);
    assert_int_equal(wr.at - mem, sizeof(golden_open));
    assert_memory_equal(mem, golden_open, sizeof(golden_open));
}

static void these_bytes_are_an_open(void **state)
{
    struct ov_control control;
    struct topo_range range;
    struct ov_open open;

    (void)state;
    assert_int_equal(
        ov_control_decode(golden_open, sizeof(golden_open), &control), 0);
    assert_int_equal(control.kind, OV_CONTROL_OPEN);
    assert_false(control.more);
    assert_int_equal(ov_open_decode(&control.body, &open), 0);
    assert_int_equal(open.stream, 1);
    assert_int_equal(open.window, 32);
    assert_int_equal(open.ranges, 2);
    range = ov_open_range(&control.body);
    assert_int_equal(range.first, 1);
    assert_int_equal(range.last, 4);
    range = ov_open_range(&control.body);
    assert_int_equal(range.first, 0x03020109);
    assert_int_equal(range.last, 0x0504ffff);
}

/* Each byte is left out, one byte is added, and values without a meaning are
 * tried. */
static void what_is_no_open_is_refused(void **state)
{
    uint8_t mem[sizeof(golden_open) + 1] = {0};
    struct ov_control control;
    struct ov_open open;

    (void)state;
    memcpy(mem, golden_open, sizeof(golden_open));
    for (uint32_t len = 0; len <= sizeof(mem); len++) {
        int rc = ov_control_decode(mem, len, &control);

        assert_int_equal(rc, len < OV_CONTROL_HEAD_BYTES ? OV_EPROTO : 0);
        if (rc == 0)
            assert_int_equal(ov_open_decode(&control.body, &open),
                             len == sizeof(golden_open) ? 0 : OV_EPROTO);
    }
    mem[4] = 0; /* stream 0 is always open */
    ov_control_decode(mem, sizeof(golden_open), &control);
    assert_int_equal(ov_open_decode(&control.body, &open), OV_EPROTO);
    mem[4] = 1;
    mem[8] = 0; /* a window of 0 */
    ov_control_decode(mem, sizeof(golden_open), &control);
    assert_int_equal(ov_open_decode(&control.body, &open), OV_EPROTO);
}

static void heads_of_the_driver_pass_others_do_not(void **state)
{
    struct ov_control control;

    (void)state;
    for (unsigned kind = 0; kind < 256; kind++) {
        const uint8_t mem[] = {(uint8_t)kind, 1, 0, 0, 7};
        bool is_known = kind == 1 || kind == 2 || kind >= 16;

        assert_int_equal(ov_control_decode(mem, sizeof(mem), &control),
                         is_known ? 0 : OV_EPROTO);
        assert_true(control.kind == kind && (!is_known || control.more));
        assert_true(!is_known || ov_rd_left(&control.body) == 1);
    }
    assert_int_equal(
        ov_control_decode((const uint8_t[]){16, 2, 0, 0}, 4, &control),
        OV_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_is_these_bytes),
        cmocka_unit_test(these_bytes_are_an_open),
        cmocka_unit_test(what_is_no_open_is_refused),
        cmocka_unit_test(heads_of_the_driver_pass_others_do_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
