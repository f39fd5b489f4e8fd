/* Bytes for some processes, byte for byte. */
#include "overlay/wire/push.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/bytes.h"

static const uint8_t golden[] = {
    5,   0,   2, 0,             /* NEW and CLOSE, two ranges */
    1,   0,   0, 0, 4, 0, 0, 0, /* the range 1 to 4 */
    9,   1,   2, 3, 9, 1, 2, 3, /* the range of one process */
    'h', 'i',
};

static void a_push_is_these_bytes(void **state)
{
    const struct topo_range ranges[] = {{1, 4}, {0x03020109, 0x03020109}};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    ov_push_encode(&wr, OV_PUSH_NEW | OV_PUSH_CLOSE, ranges, 2);
    ov_wr_bytes(&wr, "hi", 2);
    assert_bytes(&wr, mem, "05000200 01000000 04000000 09010203 09010203 6869");
}

static void these_bytes_are_a_push(void **state)
{
    struct ov_push push;
    struct topo_range range;

    (void)state;
    assert_int_equal(ov_push_decode(golden, sizeof(golden), &push), 0);
    assert_int_equal(push.flags, OV_PUSH_NEW | OV_PUSH_CLOSE);
    assert_int_equal(push.ranges, 2);
    assert_int_equal(push.off_bytes, 20);
    assert_int_equal(push.len_bytes, 2);
    range = ov_push_range(&push);
    assert_int_equal(range.first, 1);
    assert_int_equal(range.last, 4);
    range = ov_push_range(&push);
    assert_int_equal(range.first, 0x03020109);
    assert_int_equal(range.last, 0x03020109);
}

/* Decodes a copy of the exact size, so that a sanitizer sees each read beyond
 * it. */
static int decode(const uint8_t *mem, size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    struct ov_push push;
    int rc;

    assert_non_null(copy);
    memcpy(copy, mem, len);
    rc = ov_push_decode(copy, (uint32_t)len, &push);
    free(copy);
    return rc;
}

static int decode_with(size_t at, uint8_t byte)
{
    uint8_t mem[sizeof(golden)];

    memcpy(mem, golden, sizeof(mem));
    mem[at] = byte;
    return decode(mem, sizeof(mem));
}

static void what_is_no_push_is_refused(void **state)
{
    (void)state;
    for (size_t len = 0; len < 20; len++)
        assert_int_equal(decode(golden, len), OV_EPROTO);
    /* a push without bytes */
    assert_int_equal(decode(golden, 20), 0);
    assert_int_equal(decode_with(0, 8), OV_EPROTO); /* an unknown flag */
    /* MORE together with bytes */
    assert_int_equal(decode_with(0, 3), OV_EPROTO);
    assert_int_equal(decode_with(1, 1), OV_EPROTO); /* an unknown flag */
    /* the message has one range too many */
    assert_int_equal(decode_with(2, 3), OV_EPROTO);
    assert_int_equal(decode_with(4, 5), OV_EPROTO); /* the range 5 to 4 */
    /* the next range is lower */
    assert_int_equal(decode_with(11, 0xff), OV_EPROTO);
    assert_int_equal(decode_with(19, 2), OV_EPROTO);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_is_these_bytes),
        cmocka_unit_test(these_bytes_are_a_push),
        cmocka_unit_test(what_is_no_push_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
