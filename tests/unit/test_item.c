/* Golden bytes of the items in LINK frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/unit/bytes.h"

#include "overlay/base/err.h"
#include "overlay/wire/item.h"

static uint8_t mem[256];

static struct ov_wr fresh(void)
{
    return ov_wr_init(mem, sizeof(mem));
}

/* Takes the only item out of the bytes that were written. */
static struct ov_item only(const struct ov_wr *wr)
{
    struct ov_rd rd = ov_rd_init(mem, (size_t)(wr->at - mem));
    struct ov_item item;

    assert_int_equal(ov_item_next(&rd, &item), 0);
    assert_int_equal(ov_rd_left(&rd), 0);
    return item;
}

static void limit_base_and_ack(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_base base = {.stream = 1, .base = 3, .node = 7, .rank = 6}, base2;
    struct ov_ack ack = {.source = 4, .accepted = 9, .taken = 8}, ack2;
    struct ov_item item;
    uint64_t limit;

    (void)state;
    ov_limit_encode(&wr, 0, 0x1234);
    assert_bytes(&wr, mem, "01 00 0800 3412000000000000");
    item = only(&wr);
    assert_int_equal(ov_limit_decode(&item, &limit), 0);
    assert_int_equal(limit, 0x1234);
    wr = fresh();
    ov_base_encode(&wr, &base);
    assert_bytes(&wr, mem,
                 "02 00 1400 01000000 0300000000000000 07000000 06000000");
    item = only(&wr);
    assert_int_equal(ov_base_decode(&item, &base2), 0);
    assert_int_equal(base2.rank, 6);
    wr = fresh();
    ov_ack_encode(&wr, &ack);
    assert_bytes(&wr, mem,
                 "03 00 1400 04000000 0900000000000000 0800000000000000");
    item = only(&wr);
    assert_int_equal(ov_ack_decode(&item, &ack2), 0);
    assert_int_equal(ack2.taken, 8);
    mem[16] = 10; /* more records taken than accepted */
    item = only(&wr);
    assert_int_equal(ov_ack_decode(&item, &ack2), OV_EPROTO);
}

static void claims_carry_members_and_cursors(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_claim claim = {
        .node = 5, .attach = 2, .members = 1, .cursors = 1};
    struct ov_member_ref member = {.node = 11, .parent = 5, .attach = 1};
    struct ov_cursor cursor = {.stream = 1, .base = 2, .head = 3};
    struct ov_claim back;
    struct ov_item item;

    (void)state;
    ov_claim_encode(&wr, OV_ITEM_HELLO, OV_ITEM_MORE, &claim);
    ov_member_encode(&wr, &member);
    ov_cursor_encode(&wr, &cursor);
    assert_bytes(&wr, mem,
                 "04 01 3400 05000000 0200000000000000 0100 0100"
                 "0b000000 0100000000000000 05000000"
                 "01000000 0200000000000000 0300000000000000");
    item = only(&wr);
    assert_int_equal(item.flags, OV_ITEM_MORE);
    assert_int_equal(ov_claim_decode(&item, &back), 0);
    assert_int_equal(ov_member_decode(&item).parent, 5);
    assert_int_equal(ov_cursor_decode(&item).head, 3);
    mem[16] = 2; /* the item announces two members and has one */
    item = only(&wr);
    assert_int_equal(ov_claim_decode(&item, &back), OV_EPROTO);
}

static void answers_welcomes_and_refusals(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_answer answer = {
        .node = 5, .reason = OV_REFUSE_STALE, .attach = 2};
    struct ov_item item;
    uint32_t reason;
    uint64_t attach;

    (void)state;
    ov_answer_encode(&wr, 0, &answer, 1);
    ov_wr_u32(&wr, 17);
    assert_bytes(&wr, mem,
                 "06 00 1400 05000000 0200000000000000 06000000 11000000");
    item = only(&wr);
    assert_int_equal(ov_answer_decode(&item, &answer), 0);
    assert_int_equal(ov_rd_u32(&item.body), 17);
    wr = fresh();
    ov_welcome_encode(&wr, 0, 3, 0);
    assert_bytes(&wr, mem, "07 00 0800 0300000000000000");
    item = only(&wr);
    assert_int_equal(ov_welcome_decode(&item, &attach), 0);
    wr = fresh();
    ov_refuse_encode(&wr, 3, OV_REFUSE_FULL);
    assert_bytes(&wr, mem, "08 00 0c00 0300000000000000 04000000");
    item = only(&wr);
    assert_int_equal(ov_refuse_decode(&item, &attach, &reason), 0);
    assert_int_equal(reason, OV_REFUSE_FULL);
    mem[12] = 0; /* a refusal with the reason "granted" */
    item = only(&wr);
    assert_int_equal(ov_refuse_decode(&item, &attach, &reason), OV_EPROTO);
}

static void paths_left_and_missing(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_item item;
    uint16_t count;

    (void)state;
    ov_numbers_encode(&wr, OV_ITEM_PATH, 0, 2);
    ov_wr_u32(&wr, 1);
    ov_wr_u32(&wr, 0);
    assert_bytes(&wr, mem, "09 00 0800 01000000 00000000");
    item = only(&wr);
    assert_int_equal(ov_numbers_decode(&item, &count), 0);
    assert_int_equal(count, 2);
    wr = fresh();
    ov_numbers_encode(&wr, OV_ITEM_LEFT, OV_ITEM_FINAL, 1);
    ov_wr_u32(&wr, 9);
    assert_bytes(&wr, mem, "0a 02 0400 09000000");
    wr = fresh();
    ov_missing_encode(&wr, 0, 1);
    ov_wr_u32(&wr, 9);
    ov_wr_u64(&wr, 4);
    assert_bytes(&wr, mem, "0b 00 0c00 09000000 0400000000000000");
    item = only(&wr);
    assert_int_equal(ov_missing_decode(&item, &count), 0);
    assert_int_equal(count, 1);
}

static void pauses(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_item item;
    bool is_paused;

    (void)state;
    ov_pause_encode(&wr, true);
    assert_bytes(&wr, mem, "0c 00 0400 01000000");
    item = only(&wr);
    assert_int_equal(ov_pause_decode(&item, &is_paused), 0);
    assert_true(is_paused);
    mem[4] = 0;
    item = only(&wr);
    assert_int_equal(ov_pause_decode(&item, &is_paused), 0);
    assert_false(is_paused);
    mem[4] = 2;
    item = only(&wr);
    assert_int_equal(ov_pause_decode(&item, &is_paused), OV_EPROTO);
}

static void asked_and_address(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_item item;
    uint64_t attach;
    uint32_t node;

    (void)state;
    ov_asked_encode(&wr, 5);
    assert_bytes(&wr, mem, "0d 00 0800 0500000000000000");
    item = only(&wr);
    assert_int_equal(ov_asked_decode(&item, &attach), 0);
    assert_int_equal(attach, 5);
    mem[2] = 7; /* the item lacks one byte */
    wr.at--;
    item = only(&wr);
    assert_int_equal(ov_asked_decode(&item, &attach), OV_EPROTO);
    wr = fresh();
    ov_address_encode(&wr, 6, 3);
    ov_wr_bytes(&wr, "at5", 3);
    assert_bytes(&wr, mem, "0e 00 0700 06000000 617435");
    item = only(&wr);
    assert_int_equal(ov_address_decode(&item, &node), 0);
    assert_int_equal(node, 6);
    assert_int_equal(ov_rd_left(&item.body), 3);
    wr = fresh();
    ov_item_begin(&wr, OV_ITEM_ADDRESS, 0, 2);
    ov_wr_u16(&wr, 6);
    item = only(&wr);
    assert_int_equal(ov_address_decode(&item, &node), OV_EPROTO);
}

static void look_and_seen(void **state)
{
    struct ov_wr wr = fresh();
    struct ov_item item;
    bool is_refused;
    uint64_t attach;
    uint32_t node;

    (void)state;
    ov_look_encode(&wr, 6, 9, 3);
    ov_wr_bytes(&wr, "at5", 3);
    assert_bytes(&wr, mem, "10 00 0f00 06000000 0900000000000000 617435");
    item = only(&wr);
    assert_int_equal(ov_look_decode(&item, &node, &attach), 0);
    assert_int_equal(node, 6);
    assert_int_equal(attach, 9);
    assert_int_equal(ov_rd_left(&item.body), 3);
    wr = fresh();
    ov_item_begin(&wr, OV_ITEM_LOOK, 0, 4);
    ov_wr_u32(&wr, 6);
    item = only(&wr);
    assert_int_equal(ov_look_decode(&item, &node, &attach), OV_EPROTO);
    wr = fresh();
    ov_seen_encode(&wr, 6, 9, true);
    assert_bytes(&wr, mem, "11 00 1000 06000000 0900000000000000 01000000");
    item = only(&wr);
    assert_int_equal(ov_seen_decode(&item, &node, &attach, &is_refused), 0);
    assert_int_equal(node, 6);
    assert_int_equal(attach, 9);
    assert_true(is_refused);
    mem[16] = 0;
    item = only(&wr);
    assert_int_equal(ov_seen_decode(&item, &node, &attach, &is_refused), 0);
    assert_false(is_refused);
    mem[16] = 2;
    item = only(&wr);
    assert_int_equal(ov_seen_decode(&item, &node, &attach, &is_refused),
                     OV_EPROTO);
}

static void bad_items_are_refused(void **state)
{
    static const uint8_t bad[][4] = {
        {0, 0, 0, 0},             /* a kind that does not exist */
        {OV_ITEM_KINDS, 0, 0, 0}, /* another kind that does not exist */
        {OV_ITEM_LIMIT, 4, 0, 0}, /* an unknown flag */
        {OV_ITEM_LIMIT, 0, 1, 0}, /* a body that is longer than the frame */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ov_rd rd = ov_rd_init(bad[i], 4);
        struct ov_item item;

        assert_int_equal(ov_item_next(&rd, &item), OV_EPROTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_base_and_ack),
        cmocka_unit_test(claims_carry_members_and_cursors),
        cmocka_unit_test(answers_welcomes_and_refusals),
        cmocka_unit_test(paths_left_and_missing),
        cmocka_unit_test(pauses),
        cmocka_unit_test(asked_and_address),
        cmocka_unit_test(look_and_seen),
        cmocka_unit_test(bad_items_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
