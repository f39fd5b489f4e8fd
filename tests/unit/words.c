/* Writes frames as words: see words.h and lab.h. */
#include "tests/unit/words.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/control.h"
#include "overlay/wire/item.h"
#include "overlay/wire/shared.h"

/* --- payload */

static uint8_t pattern(const struct ov_record *rec, uint32_t at)
{
    return (uint8_t)(rec->source * 131 + (uint32_t)rec->seq * 7 + at);
}

void words_fill(const struct ov_record *rec, uint8_t *mem)
{
    for (uint32_t i = 0; i < rec->len_bytes; i++)
        mem[i] = pattern(rec, i);
}

bool words_are_in_place(const struct ov_record *rec, const uint8_t *mem)
{
    for (uint32_t i = 0; i < rec->len_bytes; i++) {
        if (mem[i] != pattern(rec, i))
            return false;
    }
    return true;
}

/* --- from a frame */

struct text {
    char *at;
    size_t left;
};

static void say(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct text *text, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text->at, text->left, format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < text->left);
    text->at += len;
    text->left -= (size_t)len;
}

static void say_numbers(struct text *text, struct ov_item *item)
{
    for (unsigned i = 0; ov_rd_left(&item->body) >= OV_NUMBER_BYTES; i++)
        say(text, "%s%" PRIu32, i > 0 ? "," : "", ov_rd_u32(&item->body));
}

static void say_member(struct text *text, const struct ov_member_ref *member)
{
    say(text, "+%" PRIu32 "#%" PRIu64 "<%" PRIu32, member->node, member->attach,
        member->parent);
}

static void say_claim(struct text *text, struct ov_item *item)
{
    bool is_ask = item->kind == OV_ITEM_ASK;
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim)) {
        say(text, "?");
        return;
    }
    say(text, "%s:%" PRIu32 "#%" PRIu64, is_ask ? "ask" : "hello", claim.node,
        claim.attach);
    for (unsigned i = 0; i < claim.members; i++) {
        struct ov_member_ref member = ov_member_decode(item);

        if (is_ask && i == 0 && member.node == claim.node &&
            member.attach == claim.attach)
            say(text, "<%" PRIu32, member.parent);
        else
            say_member(text, &member);
    }
    for (unsigned i = 0; i < claim.cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(item);

        say(text, "~%" PRIu32 "=%" PRIu64 "/%" PRIu64, cursor.stream,
            cursor.base, cursor.head);
    }
}

static void say_stripped(struct text *text, struct ov_item *item)
{
    while (ov_rd_left(&item->body) >= OV_NUMBER_BYTES)
        say(text, "-%" PRIu32, ov_rd_u32(&item->body));
}

static void say_answer(struct text *text, struct ov_item *item)
{
    struct ov_answer answer = {0};
    int rc = ov_answer_decode(item, &answer);

    say(text, "answer:%" PRIu32 "#%" PRIu64, answer.node, answer.attach);
    if (answer.reason != OV_GRANTED)
        say(text, "!%" PRIu32, answer.reason);
    say_stripped(text, item);
    say(text, "%s", rc ? "?" : "");
}

static void say_missing(struct text *text, struct ov_item *item)
{
    uint16_t count = 0;

    say(text, "missing:");
    if (ov_missing_decode(item, &count))
        say(text, "?");
    for (unsigned i = 0; i < count; i++) {
        uint32_t node = ov_rd_u32(&item->body);

        say(text, "%s%" PRIu32 "#%" PRIu64, i > 0 ? "," : "", node,
            ov_rd_u64(&item->body));
    }
}

static void say_address(struct text *text, struct ov_item *item)
{
    uint32_t node;
    int rc = ov_address_decode(item, &node);
    size_t len_bytes = ov_rd_left(&item->body);

    say(text, "address:%" PRIu32 "=%.*s%s", node, (int)len_bytes,
        (const char *)ov_rd_bytes(&item->body, len_bytes), rc ? "?" : "");
}

static void say_base(struct text *text, struct ov_item *item)
{
    struct ov_base base = {0};
    int rc = ov_base_decode(item, &base);

    say(text, "base:%" PRIu32 "=%" PRIu64, base.stream, base.base);
    if (base.node != TOPO_NONE && base.rank != TOPO_NONE)
        say(text, "@%" PRIu32 ".%" PRIu32, base.node, base.rank);
    else if (base.node != TOPO_NONE)
        say(text, "@%" PRIu32, base.node);
    say(text, "%s", rc ? "?" : "");
}

static void say_look(struct text *text, struct ov_item *item)
{
    uint64_t attach;
    uint32_t node;
    int rc = ov_look_decode(item, &node, &attach);
    size_t len_bytes = ov_rd_left(&item->body);

    say(text, "look:%" PRIu32 "#%" PRIu64 "=%.*s%s", node, attach,
        (int)len_bytes, (const char *)ov_rd_bytes(&item->body, len_bytes),
        rc ? "?" : "");
}

/* Writes an item that goes in both directions. */
static void say_aside(struct text *text, struct ov_item *item)
{
    bool is_refused;
    uint64_t attach;
    uint32_t node;

    if (item->kind == OV_ITEM_LOOK)
        say_look(text, item);
    else if (ov_seen_decode(item, &node, &attach, &is_refused))
        say(text, "seen:?");
    else
        say(text, "seen:%" PRIu32 "#%" PRIu64 "%s", node, attach,
            is_refused ? "!" : "");
}

/* Writes an item from a child. */
static void say_up_item(struct text *text, struct ov_item *item)
{
    if (item->kind == OV_ITEM_BASE)
        say_base(text, item);
    else if (item->kind == OV_ITEM_MISSING)
        say_missing(text, item);
    else if (item->kind == OV_ITEM_ADDRESS)
        say_address(text, item);
    else if (item->kind == OV_ITEM_WANT)
        say(text, "want:%s", ov_want_decode(item) ? "?" : "");
    else
        say_claim(text, item);
}

static void say_pause(struct text *text, struct ov_item *item)
{
    bool is_paused;

    if (ov_pause_decode(item, &is_paused))
        say(text, "pause?");
    else
        say(text, "pause%s", is_paused ? "" : "-over");
}

/* Writes an item from a parent. */
static void say_item(struct text *text, struct ov_item *item)
{
    struct ov_ack ack = {0};
    uint64_t number = 0;
    uint32_t reason = 0;

    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_LIMIT:
        ov_limit_decode(item, &number);
        say(text, "limit:%" PRIu64 "%s", number,
            item->flags & OV_ITEM_FINAL ? "!" : "");
        break;
    case OV_ITEM_ACK:
        ov_ack_decode(item, &ack);
        say(text, "ack:%" PRIu32 "=%" PRIu64 "/%" PRIu64, ack.source,
            ack.accepted, ack.taken);
        break;
    case OV_ITEM_ASKED:
        ov_asked_decode(item, &number);
        say(text, "asked:#%" PRIu64, number);
        break;
    case OV_ITEM_ANSWER:
        say_answer(text, item);
        break;
    case OV_ITEM_WELCOME:
        ov_welcome_decode(item, &number);
        say(text, "welcome:#%" PRIu64, number);
        say_stripped(text, item);
        break;
    case OV_ITEM_REFUSE:
        ov_refuse_decode(item, &number, &reason);
        say(text, "refuse:#%" PRIu64 "!%" PRIu32, number, reason);
        break;
    case OV_ITEM_PATH:
        say(text, "path:");
        say_numbers(text, item);
        break;
    case OV_ITEM_LEFT:
        say(text, "left:");
        say_numbers(text, item);
        say(text, "%s", item->flags & OV_ITEM_FINAL ? "!" : "");
        break;
    case OV_ITEM_PAUSE:
        say_pause(text, item);
        break;
    case OV_ITEM_BASE:
    case OV_ITEM_HELLO:
    case OV_ITEM_ASK:
    case OV_ITEM_MISSING:
    case OV_ITEM_ADDRESS:
    case OV_ITEM_WANT:
        say_up_item(text, item);
        break;
    case OV_ITEM_LOOK:
    case OV_ITEM_SEEN:
        say_aside(text, item);
        break;
    case OV_ITEM_KINDS:
        say(text, "?");
        break;
    }
    say(text, "%s", item->flags & OV_ITEM_MORE ? "..." : "");
}

static void say_link(struct text *text, const uint8_t *mem,
                     const struct ov_frame_head *head)
{
    struct ov_rd rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES,
                                 head->len_bytes - OV_FRAME_HEAD_BYTES);
    struct ov_item item;

    for (unsigned i = 0; i < head->count; i++) {
        say(text, "%s", i > 0 ? " " : "");
        if (ov_item_next(&rd, &item)) {
            say(text, "?");
            return;
        }
        say_item(text, &item);
    }
    say(text, "%s", ov_rd_left(&rd) > 0 ? "?" : head->count == 0 ? "beat" : "");
}

static void say_up(struct text *text, const uint8_t *mem,
                   const struct ov_frame_head *head)
{
    bool is_shared = head->type == OV_FRAME_SHARED;
    struct ov_shared shared;
    struct ov_record rec;
    struct ov_up_at at;
    uint32_t payload;

    say(text, is_shared ? "shared:" : "up:");
    if (is_shared ? ov_shared_decode(mem, head, &shared)
                  : ov_up_check(mem, head, &payload)) {
        say(text, "?");
        return;
    }
    at = ov_up_begin(mem, head->len_bytes);
    for (const char *comma = ""; at.left > 0; comma = ",") {
        payload = ov_up_next(mem, head->len_bytes, &at, &rec);
        say(text, "%s%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s%s", comma,
            rec.source, rec.seq, rec.len_bytes,
            rec.flags & OV_RECORD_EOF ? "eof" : "",
            words_are_in_place(&rec, mem + payload) ? "" : "?");
    }
}

static void say_control(struct text *text, const uint8_t *mem, uint32_t len)
{
    struct ov_control control;
    struct topo_range range;
    struct ov_open open;

    if (ov_control_decode(mem, len, &control)) {
        say(text, "?");
    } else if (control.kind == OV_CONTROL_GOODBYE) {
        say(text, "goodbye");
    } else if (control.kind != OV_CONTROL_OPEN) {
        say(text, "app");
    } else if (ov_open_decode(&control.body, &open)) {
        say(text, "open:?");
    } else {
        say(text, "open:%" PRIu32 "w%u", open.stream, (unsigned)open.window);
        for (unsigned i = 0; i < open.ranges; i++) {
            range = ov_open_range(&control.body);
            say(text, "%s%" PRIu32 "-%" PRIu32, i > 0 ? "," : ":", range.first,
                range.last);
        }
    }
}

static void say_down(struct text *text, const uint8_t *mem,
                     const struct ov_frame_head *head)
{
    struct ov_down down;
    struct ov_record rec;

    if (ov_down_decode(mem, head, &down)) {
        say(text, "down:?");
        return;
    }
    rec = (struct ov_record){.source = down.stream,
                             .seq = down.seq,
                             .len_bytes = head->len_bytes - OV_DOWN_HEAD_BYTES};
    if (down.stream == 0) {
        say_control(text, mem + OV_DOWN_HEAD_BYTES, rec.len_bytes);
        return;
    }
    say(text, "down:%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s%s", down.stream,
        down.seq, rec.len_bytes, down.flags & OV_DOWN_END ? "end" : "",
        words_are_in_place(&rec, mem + OV_DOWN_HEAD_BYTES) ? "" : "?");
}

void words_of_frame(const uint8_t *mem, uint32_t len_bytes, char *words,
                    size_t room)
{
    struct text text = {words, room};
    struct ov_frame_head head;

    words[0] = '\0';
    if (ov_frame_head_decode(mem, len_bytes, &head))
        say(&text, "?");
    else if (head.type == OV_FRAME_LINK)
        say_link(&text, mem, &head);
    else if (ov_frame_is_up(head.type))
        say_up(&text, mem, &head);
    else
        say_down(&text, mem, &head);
}
