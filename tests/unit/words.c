/* Frames as words and back: see words.h and lab.h. */
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

static void say_claim(struct text *text, struct ov_item *item)
{
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim)) {
        say(text, "?");
        return;
    }
    say(text, "%s:%" PRIu32 "#%" PRIu64,
        item->kind == OV_ITEM_HELLO ? "hello" : "ask", claim.node,
        claim.attach);
    for (unsigned i = 0; i < claim.members; i++)
        say(text, "<%" PRIu32, ov_member_decode(item).parent);
}

static void say_answer(struct text *text, struct ov_item *item)
{
    struct ov_answer answer = {0};
    int rc = ov_answer_decode(item, &answer);

    say(text, "answer:%" PRIu32 "#%" PRIu64, answer.node, answer.attach);
    if (answer.reason != OV_GRANTED)
        say(text, "!%" PRIu32, answer.reason);
    say(text, "%s", rc ? "?" : "");
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

static void say_item(struct text *text, struct ov_item *item)
{
    struct ov_ack ack = {0};
    uint64_t number = 0;
    uint32_t reason = 0;
    bool is_paused;

    switch ((enum ov_item_kind)item->kind) {
    case OV_ITEM_LIMIT:
        ov_limit_decode(item, &number);
        say(text, "limit:%" PRIu64, number);
        break;
    case OV_ITEM_BASE:
        say_base(text, item);
        break;
    case OV_ITEM_ACK:
        ov_ack_decode(item, &ack);
        say(text, "ack:%" PRIu32 "=%" PRIu64 "/%" PRIu64, ack.source,
            ack.accepted, ack.taken);
        break;
    case OV_ITEM_HELLO:
    case OV_ITEM_ASK:
        say_claim(text, item);
        break;
    case OV_ITEM_ANSWER:
        say_answer(text, item);
        break;
    case OV_ITEM_WELCOME:
        ov_welcome_decode(item, &number);
        say(text, "welcome:#%" PRIu64, number);
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
        break;
    case OV_ITEM_PAUSE:
        say(text, "pause%s",
            ov_pause_decode(item, &is_paused) ? "?"
            : is_paused                       ? ""
                                              : "-over");
        break;
    case OV_ITEM_MISSING:
    case OV_ITEM_KINDS:
        say(text, "?");
        break;
    }
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
    struct ov_record rec;
    uint32_t payload;
    struct ov_rd rd;

    say(text, "up:");
    if (ov_up_check(mem, head, &payload)) {
        say(text, "?");
        return;
    }
    rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES, payload - OV_FRAME_HEAD_BYTES);
    for (unsigned i = 0; i < head->count; i++) {
        ov_record_decode(&rd, &rec);
        say(text, "%s%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s%s%s",
            i > 0 ? "," : "", rec.source, rec.seq, rec.len_bytes,
            rec.flags & OV_RECORD_EOF ? "eof" : "",
            rec.flags & OV_RECORD_FINAL ? "final" : "",
            words_are_in_place(&rec, mem + payload) ? "" : "?");
        payload += rec.len_bytes;
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
    say(text, "down:%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s%s%s", down.stream,
        down.seq, rec.len_bytes, down.flags & OV_DOWN_END ? "end" : "",
        down.flags & OV_DOWN_SKIP ? "skip" : "",
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
    else if (head.type == OV_FRAME_UP)
        say_up(&text, mem, &head);
    else
        say_down(&text, mem, &head);
}

/* --- to a frame */

static void link_word(struct ov_wr *wr, const char *word)
{
    struct ov_claim claim = {.members = 0};
    struct ov_member_ref member = {0};
    struct ov_answer answer = {0};
    struct ov_base base = {.node = TOPO_NONE, .rank = TOPO_NONE};
    struct ov_ack ack;
    uint32_t reason, number, root;
    uint64_t count;

    if (sscanf(word, "hello:%" SCNu32 "#%" SCNu64, &claim.node,
               &claim.attach) == 2) {
        ov_claim_encode(wr, OV_ITEM_HELLO, 0, &claim);
    } else if (sscanf(word, "ask:%" SCNu32 "#%" SCNu64 "<%" SCNu32,
                      &member.node, &member.attach, &member.parent) == 3) {
        claim = (struct ov_claim){member.node, member.attach, 1, 0};
        ov_claim_encode(wr, OV_ITEM_ASK, 0, &claim);
        ov_member_encode(wr, &member);
    } else if (sscanf(word, "answer:%" SCNu32 "#%" SCNu64 "!%" SCNu32,
                      &answer.node, &answer.attach, &answer.reason) >= 2) {
        ov_answer_encode(wr, 0, &answer, 0);
    } else if (sscanf(word, "welcome:#%" SCNu64, &count) == 1) {
        ov_welcome_encode(wr, 0, count, 0);
    } else if (sscanf(word, "refuse:#%" SCNu64 "!%" SCNu32, &count, &reason) ==
               2) {
        ov_refuse_encode(wr, count, reason);
    } else if (sscanf(word, "limit:%" SCNu64, &count) == 1) {
        ov_limit_encode(wr, count);
    } else if (sscanf(word, "base:%" SCNu32 "=%" SCNu64 "@%" SCNu32 ".%" SCNu32,
                      &base.stream, &base.base, &base.node, &base.rank) >= 2) {
        ov_base_encode(wr, &base);
    } else if (sscanf(word, "ack:%" SCNu32 "=%" SCNu64 "/%" SCNu64, &ack.source,
                      &ack.accepted, &ack.taken) == 3) {
        ov_ack_encode(wr, &ack);
    } else if (sscanf(word, "path:%" SCNu32 ",%" SCNu32, &number, &root) == 2) {
        ov_numbers_encode(wr, OV_ITEM_PATH, 0, 2);
        ov_wr_u32(wr, number);
        ov_wr_u32(wr, root);
    } else if (sscanf(word, "path:%" SCNu32, &number) == 1) {
        ov_numbers_encode(wr, OV_ITEM_PATH, 0, 1);
        ov_wr_u32(wr, number);
    } else if (sscanf(word, "left:%" SCNu32, &number) == 1) {
        ov_numbers_encode(wr, OV_ITEM_LEFT, 0, 1);
        ov_wr_u32(wr, number);
    } else {
        fail_msg("no word of a LINK frame: %s", word);
    }
}

static uint16_t link_words(struct ov_wr *wr, const char *words)
{
    uint16_t count = 0;
    char copy[512], *word;

    assert_true(strlen(words) < sizeof(copy));
    strcpy(copy, words);
    for (word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        link_word(wr, word);
        count++;
    }
    return count;
}

/* Reads "SOURCE.SEQ(BYTES)FLAGS"; returns what follows. */
static const char *read_record(const char *words, struct ov_record *rec)
{
    int used = 0;

    *rec = (struct ov_record){.channel = OV_CHANNEL_STDOUT};
    if (sscanf(words, "%" SCNu32 ".%" SCNu64 "(%" SCNu32 ")%n", &rec->source,
               &rec->seq, &rec->len_bytes, &used) != 3 ||
        used == 0)
        fail_msg("no record: %s", words);
    words += used;
    if (strncmp(words, "eof", 3) == 0) {
        rec->flags = OV_RECORD_EOF;
        words += 3;
    } else if (strncmp(words, "final", 5) == 0) {
        rec->flags = OV_RECORD_FINAL;
        words += 5;
    }
    return *words == ',' ? words + 1 : words;
}

static uint16_t up_words(struct ov_wr *wr, const char *words)
{
    const char *at;
    struct ov_record rec;
    uint16_t count = 0;

    for (at = words; *at != '\0'; count++) {
        at = read_record(at, &rec);
        ov_record_encode(wr, &rec);
    }
    for (at = words; *at != '\0';) {
        uint8_t *room;

        at = read_record(at, &rec);
        room = ov_wr_room(wr, rec.len_bytes);
        assert_non_null(room);
        words_fill(&rec, room);
    }
    return count;
}

static bool control_words(struct ov_wr *wr, const char *words)
{
    struct ov_open open = {.ranges = 1};
    struct topo_range range;

    if (strcmp(words, "goodbye") == 0)
        ov_control_encode(wr, OV_CONTROL_GOODBYE, false);
    else if (strcmp(words, "app") == 0)
        ov_control_encode(wr, OV_CONTROL_APP, false);
    else if (sscanf(words, "open:%" SCNu32 "w%" SCNu16 ":%" SCNu32 "-%" SCNu32,
                    &open.stream, &open.window, &range.first, &range.last) == 4)
        ov_open_encode(wr, &open, &range);
    else
        return false;
    return true;
}

static void down_words(struct ov_wr *wr, const char *words)
{
    struct ov_record rec;
    const char *flags;
    uint8_t *room;

    flags = read_record(words, &rec);
    room = ov_wr_room(wr, rec.len_bytes);
    assert_non_null(room);
    words_fill(&rec, room);
    assert_true(*flags == '\0' || strcmp(flags, "end") == 0);
}

static uint32_t finish_down(const char *words, uint64_t *control_seq,
                            uint8_t *mem, uint32_t cap_bytes)
{
    struct ov_wr head = ov_wr_init(mem, OV_DOWN_HEAD_BYTES);
    struct ov_wr wr =
        ov_wr_init(mem + OV_DOWN_HEAD_BYTES, cap_bytes - OV_DOWN_HEAD_BYTES);
    struct ov_down down = {.stream = 0};
    struct ov_record rec;

    if (strncmp(words, "down:", 5) == 0) {
        words += 5;
        down_words(&wr, words);
        read_record(words, &rec);
        down.stream = rec.source;
        down.seq = rec.seq;
        down.flags = strstr(words, "end") != NULL ? OV_DOWN_END : 0;
    } else if (control_words(&wr, words)) {
        down.seq = (*control_seq)++;
    } else {
        return 0;
    }
    assert_false(wr.bad);
    ov_down_encode(&head, 0, &down,
                   (uint32_t)(wr.at - mem) - OV_DOWN_HEAD_BYTES);
    return (uint32_t)(wr.at - mem);
}

uint32_t words_to_frame(const char *words, uint64_t *control_seq, uint8_t *mem,
                        uint32_t cap_bytes)
{
    struct ov_wr start = ov_wr_init(mem, OV_FRAME_HEAD_BYTES);
    struct ov_wr wr = ov_wr_init(mem, cap_bytes);
    struct ov_frame_head head = {.type = OV_FRAME_LINK};
    uint32_t len = finish_down(words, control_seq, mem, cap_bytes);

    if (len > 0)
        return len;
    ov_wr_room(&wr, OV_FRAME_HEAD_BYTES);
    if (strncmp(words, "up:", 3) == 0) {
        head.type = OV_FRAME_UP;
        head.count = up_words(&wr, words + 3);
    } else {
        head.count = link_words(&wr, words);
    }
    assert_false(wr.bad);
    head.len_bytes = (uint32_t)(wr.at - mem);
    ov_frame_head_encode(&start, &head);
    return head.len_bytes;
}
