/* Encodes and decodes the items in LINK frames. */
#include "overlay/wire/item.h"

#include "overlay/base/err.h"

void ov_item_begin(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                   uint16_t body_bytes)
{
    ov_wr_u8(wr, (uint8_t)kind);
    ov_wr_u8(wr, flags);
    ov_wr_u16(wr, body_bytes);
}

int ov_item_next(struct ov_rd *rd, struct ov_item *item)
{
    const uint8_t *body;
    uint16_t body_bytes;

    item->kind = ov_rd_u8(rd);
    item->flags = ov_rd_u8(rd);
    body_bytes = ov_rd_u16(rd);
    body = ov_rd_bytes(rd, body_bytes);
    if (rd->bad || item->kind == 0 || item->kind >= OV_ITEM_KINDS ||
        (item->flags & ~OV_ITEM_FLAGS) != 0)
        return OV_EPROTO;
    item->body = ov_rd_init(body, body_bytes);
    return 0;
}

/* Checks that the body was read exactly to its end. */
static int body_done(const struct ov_item *item)
{
    return item->body.bad || ov_rd_left(&item->body) != 0 ? OV_EPROTO : 0;
}

/* Checks that the rest of the body is a list of entries of width_bytes each,
 * and counts them. */
static int body_list(const struct ov_item *item, unsigned width_bytes,
                     uint16_t *count)
{
    size_t left = ov_rd_left(&item->body);

    if (item->body.bad || left % width_bytes != 0)
        return OV_EPROTO;
    if (count != NULL)
        *count = (uint16_t)(left / width_bytes);
    return 0;
}

void ov_limit_encode(struct ov_wr *wr, uint8_t flags, uint64_t limit)
{
    ov_item_begin(wr, OV_ITEM_LIMIT, flags, OV_LIMIT_BYTES);
    ov_wr_u64(wr, limit);
}

int ov_limit_decode(struct ov_item *item, uint64_t *limit)
{
    *limit = ov_rd_u64(&item->body);
    return body_done(item);
}

void ov_base_encode(struct ov_wr *wr, const struct ov_base *base)
{
    ov_item_begin(wr, OV_ITEM_BASE, 0, OV_BASE_BYTES);
    ov_wr_u32(wr, base->stream);
    ov_wr_u64(wr, base->base);
    ov_wr_u32(wr, base->node);
    ov_wr_u32(wr, base->rank);
}

int ov_base_decode(struct ov_item *item, struct ov_base *base)
{
    base->stream = ov_rd_u32(&item->body);
    base->base = ov_rd_u64(&item->body);
    base->node = ov_rd_u32(&item->body);
    base->rank = ov_rd_u32(&item->body);
    return body_done(item);
}

void ov_ack_encode(struct ov_wr *wr, const struct ov_ack *ack)
{
    ov_item_begin(wr, OV_ITEM_ACK, 0, OV_ACK_BYTES);
    ov_wr_u32(wr, ack->source);
    ov_wr_u64(wr, ack->accepted);
    ov_wr_u64(wr, ack->taken);
}

int ov_ack_decode(struct ov_item *item, struct ov_ack *ack)
{
    ack->source = ov_rd_u32(&item->body);
    ack->accepted = ov_rd_u64(&item->body);
    ack->taken = ov_rd_u64(&item->body);
    if (ack->taken > ack->accepted)
        return OV_EPROTO;
    return body_done(item);
}

void ov_claim_encode(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                     const struct ov_claim *claim)
{
    ov_item_begin(wr, kind, flags,
                  (uint16_t)(OV_CLAIM_BYTES + claim->members * OV_MEMBER_BYTES +
                             claim->cursors * OV_CURSOR_BYTES));
    ov_wr_u32(wr, claim->node);
    ov_wr_u64(wr, claim->attach);
    ov_wr_u16(wr, claim->members);
    ov_wr_u16(wr, claim->cursors);
}

void ov_member_encode(struct ov_wr *wr, const struct ov_member_ref *member)
{
    ov_wr_u32(wr, member->node);
    ov_wr_u64(wr, member->attach);
    ov_wr_u32(wr, member->parent);
}

void ov_cursor_encode(struct ov_wr *wr, const struct ov_cursor *cursor)
{
    ov_wr_u32(wr, cursor->stream);
    ov_wr_u64(wr, cursor->base);
    ov_wr_u64(wr, cursor->head);
}

int ov_claim_decode(struct ov_item *item, struct ov_claim *claim)
{
    uint32_t lists;

    claim->node = ov_rd_u32(&item->body);
    claim->attach = ov_rd_u64(&item->body);
    claim->members = ov_rd_u16(&item->body);
    claim->cursors = ov_rd_u16(&item->body);
    lists = (uint32_t)claim->members * OV_MEMBER_BYTES +
            (uint32_t)claim->cursors * OV_CURSOR_BYTES;
    if (item->body.bad || ov_rd_left(&item->body) != lists)
        return OV_EPROTO;
    return 0;
}

struct ov_member_ref ov_member_decode(struct ov_item *item)
{
    struct ov_member_ref member;

    member.node = ov_rd_u32(&item->body);
    member.attach = ov_rd_u64(&item->body);
    member.parent = ov_rd_u32(&item->body);
    return member;
}

struct ov_cursor ov_cursor_decode(struct ov_item *item)
{
    struct ov_cursor cursor;

    cursor.stream = ov_rd_u32(&item->body);
    cursor.base = ov_rd_u64(&item->body);
    cursor.head = ov_rd_u64(&item->body);
    return cursor;
}

void ov_answer_encode(struct ov_wr *wr, uint8_t flags,
                      const struct ov_answer *answer, uint16_t numbers)
{
    ov_item_begin(wr, OV_ITEM_ANSWER, flags,
                  (uint16_t)(OV_ANSWER_BYTES + numbers * OV_NUMBER_BYTES));
    ov_wr_u32(wr, answer->node);
    ov_wr_u64(wr, answer->attach);
    ov_wr_u32(wr, answer->reason);
}

int ov_answer_decode(struct ov_item *item, struct ov_answer *answer)
{
    answer->node = ov_rd_u32(&item->body);
    answer->attach = ov_rd_u64(&item->body);
    answer->reason = ov_rd_u32(&item->body);
    if (answer->reason >= OV_REFUSE_REASONS)
        return OV_EPROTO;
    return body_list(item, OV_NUMBER_BYTES, NULL);
}

void ov_welcome_encode(struct ov_wr *wr, uint8_t flags, uint64_t attach,
                       uint16_t numbers)
{
    ov_item_begin(wr, OV_ITEM_WELCOME, flags,
                  (uint16_t)(OV_WELCOME_BYTES + numbers * OV_NUMBER_BYTES));
    ov_wr_u64(wr, attach);
}

int ov_welcome_decode(struct ov_item *item, uint64_t *attach)
{
    *attach = ov_rd_u64(&item->body);
    return body_list(item, OV_NUMBER_BYTES, NULL);
}

void ov_refuse_encode(struct ov_wr *wr, uint64_t attach, uint32_t reason)
{
    ov_item_begin(wr, OV_ITEM_REFUSE, 0, OV_REFUSE_BYTES);
    ov_wr_u64(wr, attach);
    ov_wr_u32(wr, reason);
}

int ov_refuse_decode(struct ov_item *item, uint64_t *attach, uint32_t *reason)
{
    *attach = ov_rd_u64(&item->body);
    *reason = ov_rd_u32(&item->body);
    if (*reason == OV_GRANTED || *reason >= OV_REFUSE_REASONS)
        return OV_EPROTO;
    return body_done(item);
}

void ov_numbers_encode(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                       uint16_t numbers)
{
    ov_item_begin(wr, kind, flags, (uint16_t)(numbers * OV_NUMBER_BYTES));
}

int ov_numbers_decode(struct ov_item *item, uint16_t *numbers)
{
    return body_list(item, OV_NUMBER_BYTES, numbers);
}

void ov_missing_encode(struct ov_wr *wr, uint8_t flags, uint16_t members)
{
    ov_item_begin(wr, OV_ITEM_MISSING, flags,
                  (uint16_t)(members * OV_MISSING_BYTES));
}

int ov_missing_decode(struct ov_item *item, uint16_t *members)
{
    return body_list(item, OV_MISSING_BYTES, members);
}

void ov_asked_encode(struct ov_wr *wr, uint64_t attach)
{
    ov_item_begin(wr, OV_ITEM_ASKED, 0, OV_ASKED_BYTES);
    ov_wr_u64(wr, attach);
}

int ov_asked_decode(struct ov_item *item, uint64_t *attach)
{
    *attach = ov_rd_u64(&item->body);
    return body_done(item);
}

void ov_address_encode(struct ov_wr *wr, uint32_t node, uint16_t len_bytes)
{
    ov_item_begin(wr, OV_ITEM_ADDRESS, 0,
                  (uint16_t)(OV_ADDRESS_BYTES + len_bytes));
    ov_wr_u32(wr, node);
}

int ov_address_decode(struct ov_item *item, uint32_t *node)
{
    *node = ov_rd_u32(&item->body);
    return item->body.bad ? OV_EPROTO : 0;
}

void ov_look_encode(struct ov_wr *wr, uint32_t node, uint64_t attach,
                    uint16_t len_bytes)
{
    ov_item_begin(wr, OV_ITEM_LOOK, 0, (uint16_t)(OV_LOOK_BYTES + len_bytes));
    ov_wr_u32(wr, node);
    ov_wr_u64(wr, attach);
}

int ov_look_decode(struct ov_item *item, uint32_t *node, uint64_t *attach)
{
    *node = ov_rd_u32(&item->body);
    *attach = ov_rd_u64(&item->body);
    return item->body.bad ? OV_EPROTO : 0;
}

void ov_seen_encode(struct ov_wr *wr, uint32_t node, uint64_t attach,
                    bool is_refused)
{
    ov_item_begin(wr, OV_ITEM_SEEN, 0, OV_SEEN_BYTES);
    ov_wr_u32(wr, node);
    ov_wr_u64(wr, attach);
    ov_wr_u32(wr, is_refused);
}

int ov_seen_decode(struct ov_item *item, uint32_t *node, uint64_t *attach,
                   bool *is_refused)
{
    uint32_t number;

    *node = ov_rd_u32(&item->body);
    *attach = ov_rd_u64(&item->body);
    number = ov_rd_u32(&item->body);
    *is_refused = number == 1;
    return number > 1 ? OV_EPROTO : body_done(item);
}

void ov_want_encode(struct ov_wr *wr)
{
    ov_item_begin(wr, OV_ITEM_WANT, 0, 0);
}

int ov_want_decode(struct ov_item *item)
{
    return body_done(item);
}

void ov_pause_encode(struct ov_wr *wr, bool is_paused)
{
    ov_item_begin(wr, OV_ITEM_PAUSE, 0, OV_PAUSE_BYTES);
    ov_wr_u32(wr, is_paused);
}

int ov_pause_decode(struct ov_item *item, bool *is_paused)
{
    uint32_t number = ov_rd_u32(&item->body);

    *is_paused = number == 1;
    return number > 1 ? OV_EPROTO : body_done(item);
}
