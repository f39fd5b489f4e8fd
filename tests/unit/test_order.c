/* Orders on stream 0: an order that is encoded decodes to the same order. */
#include "job/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/document.h"

#define THREE_TO_FIVE_AND_NINE .ranges = {{3, 5}, {9, 9}}, .ranges_count = 2
#define RANGES_BYTES           3, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0

/* An order, and its bytes on the wire. */
static const struct {
    struct job_order said;
    size_t len_bytes;
    uint8_t golden[32];
    uint32_t
        whole; /* lengths at which a shorter order is complete, too, as bits */
} cases[] = {
    {{.kind = JOB_CONTROL_SIGNAL, .number = 15, THREE_TO_FIVE_AND_NINE},
     20,
     {15, 0, 0, 0, RANGES_BYTES},
     1 << 4 | 1 << 12},
    {{.kind = JOB_CONTROL_SIGNAL, .number = 9}, 4, {9}, 0},
    {{.kind = JOB_CONTROL_KILL}, 0, {0}, 0},
    {{.kind = JOB_CONTROL_REPLAY,
      .ticket = 0x102,
      .channels = 6,
      .is_last = true,
      .bytes = 0x11223344,
      THREE_TO_FIVE_AND_NINE},
     24,
     {0x02, 0x01, 0x06, 0x01, 0x44, 0x33, 0x22, 0x11, RANGES_BYTES},
     1 << 16},
    {{.kind = JOB_CONTROL_WANT,
      .channels = 6,
      .is_wanted = true,
      THREE_TO_FIVE_AND_NINE},
     18,
     {6, 1, RANGES_BYTES},
     1 << 10},
    {{.kind = JOB_CONTROL_WANT,
      .channels = 14,
      .is_wanted = true,
      .is_held_back = true,
      THREE_TO_FIVE_AND_NINE},
     18,
     {14, 3, RANGES_BYTES},
     1 << 10},
    {{.kind = JOB_CONTROL_WANT, .channels = 2, THREE_TO_FIVE_AND_NINE},
     18,
     {2, 0, RANGES_BYTES},
     1 << 10},
    {{.kind = JOB_CONTROL_FORGET, .number = 0x01020304}, 4, {4, 3, 2, 1}, 0},
    {{.kind = JOB_CONTROL_MACHINE, THREE_TO_FIVE_AND_NINE},
     16,
     {RANGES_BYTES},
     1 << 8},
    {{.kind = JOB_CONTROL_CLOCK, .time_ns = UINT64_C(0x0102030405060708)},
     8,
     {8, 7, 6, 5, 4, 3, 2, 1},
     0},
    {{.kind = JOB_CONTROL_LOOK, .ticket = 0x102, THREE_TO_FIVE_AND_NINE},
     18,
     {2, 1, RANGES_BYTES},
     1 << 10},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static int decode(unsigned kind, const uint8_t *mem, size_t len_bytes)
{
    struct job_order heard;

    return job_order_decode((uint8_t)kind, ov_rd_init(mem, len_bytes), &heard);
}

/* The bytes on the wire change only when this table does. */
static void orders_are_these_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        uint8_t mem[JOB_ORDER_BYTES_MAX];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

        job_order_encode(&wr, &cases[i].said);
        assert_false(wr.bad);
        assert_int_equal(wr.at - mem, cases[i].len_bytes);
        assert_memory_equal(mem, cases[i].golden, cases[i].len_bytes);
    }
}

static void orders_are_heard_as_said(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        struct job_order heard;

        assert_int_equal(
            job_order_decode(cases[i].said.kind,
                             ov_rd_init(cases[i].golden, cases[i].len_bytes),
                             &heard),
            0);
        assert_memory_equal(&heard, &cases[i].said, sizeof(heard));
    }
}

/* An order is cut anywhere except between ranges, or has an extra byte. */
static void half_an_order_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        for (size_t len = 0; len <= cases[i].len_bytes + 1; len++) {
            bool is_whole =
                len == cases[i].len_bytes || (cases[i].whole >> len & 1) != 0;

            assert_int_equal(decode(cases[i].said.kind, cases[i].golden, len),
                             is_whole ? 0 : OV_EPROTO);
        }
    }
}

/* An unknown kind, a missing ticket and unknown flags are refused. */
static void what_is_no_order_is_refused(void **state)
{
    uint8_t replay[] = {1, 0, 6, 1, 0, 0, 0, 0, RANGES_BYTES};
    uint8_t want[] = {6, 0, RANGES_BYTES};

    (void)state;
    assert_int_equal(decode(0, replay, 0), OV_EPROTO);
    assert_int_equal(decode(OV_CONTROL_GOODBYE, replay, 0), OV_EPROTO);
    assert_int_equal(decode(JOB_CONTROL_JOB, replay, 0), OV_EPROTO);
    assert_int_equal(decode(JOB_CONTROL_KINDS, replay, 0), OV_EPROTO);
    assert_int_equal(decode(JOB_CONTROL_REPLAY, replay, sizeof(replay)), 0);
    replay[3] = 2;
    assert_int_equal(decode(JOB_CONTROL_REPLAY, replay, sizeof(replay)),
                     OV_EPROTO);
    replay[3] = replay[0] = 0;
    assert_int_equal(decode(JOB_CONTROL_REPLAY, replay, sizeof(replay)),
                     OV_EPROTO);
    for (want[1] = 0; want[1] < 8; want[1]++)
        assert_int_equal(decode(JOB_CONTROL_WANT, want, sizeof(want)),
                         want[1] == 2 || want[1] > 3 ? OV_EPROTO : 0);
}

/* An order has the greatest number of ranges, and then one more. */
static void an_order_of_too_many_ranges_is_refused(void **state)
{
    static const uint8_t mem[8 * (JOB_ORDER_RANGES_MAX + 1)];

    (void)state;
    assert_int_equal(decode(JOB_CONTROL_MACHINE, mem, sizeof(mem) - 8), 0);
    assert_int_equal(decode(JOB_CONTROL_MACHINE, mem, sizeof(mem)), OV_EPROTO);
}

static void ranges_have_their_ends(void **state)
{
    struct job_order order = {THREE_TO_FIVE_AND_NINE};

    (void)state;
    for (uint32_t number = 0; number < 12; number++)
        assert_int_equal(job_order_has(&order, number),
                         (number >= 3 && number <= 5) || number == 9);
    order.ranges_count = 0;
    assert_false(job_order_has(&order, 3));
}

static void the_document_has_the_rows(void **state)
{
    static const char *const names[] = {"SIGNAL", "KILL",    "REPLAY", "WANT",
                                        "FORGET", "MACHINE", "CLOCK",  "LOOK"};

    (void)state;
    for (unsigned kind = JOB_CONTROL_SIGNAL; kind < JOB_CONTROL_KINDS; kind++)
        document_has_message(kind, names[kind - JOB_CONTROL_SIGNAL],
                             job_order_rows(kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_these_bytes),
        cmocka_unit_test(orders_are_heard_as_said),
        cmocka_unit_test(half_an_order_is_refused),
        cmocka_unit_test(what_is_no_order_is_refused),
        cmocka_unit_test(an_order_of_too_many_ranges_is_refused),
        cmocka_unit_test(ranges_have_their_ends),
        cmocka_unit_test(the_document_has_the_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
