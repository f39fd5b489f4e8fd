/* The items of a LINK frame: every item that decodes encodes to the same
 * bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/wire/item.h"

static int redo_claim(struct ov_item *item, struct ov_wr *wr)
{
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim))
        return -1;
    ov_claim_encode(wr, (enum ov_item_kind)item->kind, item->flags, &claim);
    for (unsigned i = 0; i < claim.members; i++) {
        struct ov_member_ref member = ov_member_decode(item);

        ov_member_encode(wr, &member);
    }
    for (unsigned i = 0; i < claim.cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(item);

        ov_cursor_encode(wr, &cursor);
    }
    FUZZ_CHECK(!item->body.bad && ov_rd_left(&item->body) == 0);
    return 0;
}

static int redo_answer(struct ov_item *item, struct ov_wr *wr)
{
    struct ov_answer answer;

    if (ov_answer_decode(item, &answer))
        return -1;
    ov_answer_encode(wr, item->flags, &answer,
                     (uint16_t)(ov_rd_left(&item->body) / OV_NUMBER_BYTES));
    return 0;
}

static int redo_welcome(struct ov_item *item, struct ov_wr *wr)
{
    uint64_t attach;

    if (ov_welcome_decode(item, &attach))
        return -1;
    ov_welcome_encode(wr, item->flags, attach,
                      (uint16_t)(ov_rd_left(&item->body) / OV_NUMBER_BYTES));
    return 0;
}

static int redo_numbers(struct ov_item *item, struct ov_wr *wr)
{
    uint16_t numbers;

    if (ov_numbers_decode(item, &numbers))
        return -1;
    FUZZ_CHECK((size_t)numbers * OV_NUMBER_BYTES == ov_rd_left(&item->body));
    ov_numbers_encode(wr, (enum ov_item_kind)item->kind, item->flags, numbers);
    return 0;
}

static int redo_missing(struct ov_item *item, struct ov_wr *wr)
{
    uint16_t members;

    if (ov_missing_decode(item, &members))
        return -1;
    FUZZ_CHECK((size_t)members * OV_MISSING_BYTES == ov_rd_left(&item->body));
    ov_missing_encode(wr, item->flags, members);
    return 0;
}

/* Handles items of fixed size. Their flags have no meaning and are not kept. */
static int redo_fixed(struct ov_item *item, struct ov_wr *wr)
{
    struct ov_base base;
    struct ov_ack ack;
    uint64_t number;
    uint32_t reason;
    bool is_paused;

    if (item->kind == OV_ITEM_LIMIT && ov_limit_decode(item, &number) == 0)
        ov_limit_encode(wr, 0, number);
    else if (item->kind == OV_ITEM_BASE && ov_base_decode(item, &base) == 0)
        ov_base_encode(wr, &base);
    else if (item->kind == OV_ITEM_ACK && ov_ack_decode(item, &ack) == 0)
        ov_ack_encode(wr, &ack);
    else if (item->kind == OV_ITEM_REFUSE &&
             ov_refuse_decode(item, &number, &reason) == 0)
        ov_refuse_encode(wr, number, reason);
    else if (item->kind == OV_ITEM_PAUSE &&
             ov_pause_decode(item, &is_paused) == 0)
        ov_pause_encode(wr, is_paused);
    else if (item->kind == OV_ITEM_ASKED && ov_asked_decode(item, &number) == 0)
        ov_asked_encode(wr, number);
    else
        return -1;
    return 0;
}

/* Encodes an ADDRESS again; what follows its head is the rest of the body,
 * unchanged. */
static int redo_address(struct ov_item *item, struct ov_wr *wr)
{
    uint32_t node;

    if (ov_address_decode(item, &node))
        return -1;
    ov_address_encode(wr, node, (uint16_t)ov_rd_left(&item->body));
    return 0;
}

static int redo_look(struct ov_item *item, struct ov_wr *wr)
{
    uint64_t attach;
    uint32_t node;

    if (ov_look_decode(item, &node, &attach))
        return -1;
    ov_look_encode(wr, node, attach, (uint16_t)ov_rd_left(&item->body));
    return 0;
}

static int redo_seen(struct ov_item *item, struct ov_wr *wr)
{
    bool is_refused;
    uint64_t attach;
    uint32_t node;

    if (ov_seen_decode(item, &node, &attach, &is_refused))
        return -1;
    ov_seen_encode(wr, node, attach, is_refused);
    return 0;
}

static int redo(struct ov_item *item, struct ov_wr *wr)
{
    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_LIMIT:
    case OV_ITEM_BASE:
    case OV_ITEM_ACK:
    case OV_ITEM_REFUSE:
    case OV_ITEM_PAUSE:
    case OV_ITEM_ASKED:
        return redo_fixed(item, wr);
    case OV_ITEM_HELLO:
    case OV_ITEM_ASK:
        return redo_claim(item, wr);
    case OV_ITEM_ANSWER:
        return redo_answer(item, wr);
    case OV_ITEM_WELCOME:
        return redo_welcome(item, wr);
    case OV_ITEM_PATH:
    case OV_ITEM_LEFT:
        return redo_numbers(item, wr);
    case OV_ITEM_MISSING:
        return redo_missing(item, wr);
    case OV_ITEM_ADDRESS:
        return redo_address(item, wr);
    case OV_ITEM_LOOK:
        return redo_look(item, wr);
    case OV_ITEM_SEEN:
        return redo_seen(item, wr);
    case OV_ITEM_WANT:
        if (ov_want_decode(item))
            return -1;
        ov_want_encode(wr);
        return 0;
    case OV_ITEM_KINDS:
        break;
    }
    FUZZ_CHECK(item->kind < OV_ITEM_KINDS);
    return -1;
}

/* Checks that the bytes are the same again, except flags of items that have no
 * flags. */
static void check_same(const uint8_t *mem, const struct ov_item *item,
                       struct ov_wr *wr, uint8_t *again)
{
    size_t head_bytes;

    ov_wr_bytes(wr, item->body.at, ov_rd_left(&item->body));
    head_bytes = (size_t)(item->body.end - mem);
    FUZZ_CHECK(!wr->bad);
    FUZZ_CHECK((size_t)(wr->at - again) == head_bytes);
    again[1] = mem[1];
    FUZZ_CHECK(memcmp(again, mem, head_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static uint8_t again[OV_ITEM_HEAD_BYTES + UINT16_MAX];
    struct ov_rd rd = ov_rd_init(mem, len_bytes);

    while (ov_rd_left(&rd) > 0) {
        const uint8_t *at = rd.at;
        struct ov_wr wr = ov_wr_init(again, sizeof(again));
        struct ov_item item;

        if (ov_item_next(&rd, &item))
            return 0;
        FUZZ_CHECK(item.body.end == rd.at);
        if (redo(&item, &wr) == 0)
            check_same(at, &item, &wr, again);
    }
    return 0;
}
