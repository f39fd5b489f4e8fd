/* Makes frames from words: see words.h and lab.h. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/control.h"
#include "overlay/wire/item.h"
#include "tests/unit/words.h"

enum { NUMBERS_MAX = 1024, COPY_BYTES = 64 * 1024 };

/* --- items of LINK frames */

/* Reads the next number in *at. */
static uint64_t number(const char **at)
{
    char *end;
    uint64_t value = strtoull(*at, &end, 10);

    if (end == *at)
        fail_msg("no number: %s", *at);
    *at = end;
    return value;
}

static uint32_t node_number(const char **at)
{
    return (uint32_t)number(at);
}

static bool next_is(const char **at, char mark)
{
    if (**at != mark)
        return false;
    (*at)++;
    return true;
}

static void expect(const char **at, char mark)
{
    if (!next_is(at, mark))
        fail_msg("no '%c': %s", mark, *at);
}

/* A word of a LINK frame: the text after its name. */
struct word {
    enum ov_item_kind kind;
    uint8_t flags;
    const char *at;
};

/* Reads the numbers that follow `mark`, up to the end of the word. */
static uint16_t read_numbers(struct word *word, char mark, uint32_t *numbers,
                             uint16_t most)
{
    uint16_t count = 0;

    while (next_is(&word->at, mark)) {
        assert_true(count < most);
        numbers[count++] = node_number(&word->at);
    }
    return count;
}

static void write_numbers(struct ov_wr *wr, const uint32_t *numbers,
                          uint16_t count)
{
    for (unsigned i = 0; i < count; i++)
        ov_wr_u32(wr, numbers[i]);
}

static struct ov_member_ref read_member(struct word *word)
{
    struct ov_member_ref member = {.node = node_number(&word->at)};

    expect(&word->at, '#');
    member.attach = number(&word->at);
    expect(&word->at, '<');
    member.parent = node_number(&word->at);
    return member;
}

static struct ov_cursor read_cursor(struct word *word)
{
    struct ov_cursor cursor = {.stream = node_number(&word->at)};

    expect(&word->at, '=');
    cursor.base = number(&word->at);
    expect(&word->at, '/');
    cursor.head = number(&word->at);
    return cursor;
}

static void write_claim(struct ov_wr *wr, struct word *word)
{
    static uint8_t lists[OV_FRAME_BYTES_MAX];
    struct ov_wr list = ov_wr_init(lists, sizeof(lists));
    struct ov_claim claim = {.node = node_number(&word->at)};

    expect(&word->at, '#');
    claim.attach = number(&word->at);
    if (next_is(&word->at, '<')) {
        struct ov_member_ref who = {claim.node, node_number(&word->at),
                                    claim.attach};

        ov_member_encode(&list, &who);
        claim.members++;
    }
    while (next_is(&word->at, '+')) {
        struct ov_member_ref member = read_member(word);

        ov_member_encode(&list, &member);
        claim.members++;
    }
    while (next_is(&word->at, '~')) {
        struct ov_cursor cursor = read_cursor(word);

        ov_cursor_encode(&list, &cursor);
        claim.cursors++;
    }
    ov_claim_encode(wr, word->kind, word->flags, &claim);
    ov_wr_bytes(wr, lists, (size_t)(list.at - lists));
}

static void write_answer(struct ov_wr *wr, struct word *word)
{
    struct ov_answer answer = {.node = node_number(&word->at)};
    uint32_t stripped[NUMBERS_MAX];
    uint16_t count;

    expect(&word->at, '#');
    answer.attach = number(&word->at);
    if (next_is(&word->at, '!'))
        answer.reason = node_number(&word->at);
    count = read_numbers(word, '-', stripped, NUMBERS_MAX);
    ov_answer_encode(wr, word->flags, &answer, count);
    write_numbers(wr, stripped, count);
}

static void write_welcome(struct ov_wr *wr, struct word *word)
{
    uint32_t stripped[NUMBERS_MAX];
    uint64_t attach;
    uint16_t count;

    expect(&word->at, '#');
    attach = number(&word->at);
    count = read_numbers(word, '-', stripped, NUMBERS_MAX);
    ov_welcome_encode(wr, word->flags, attach, count);
    write_numbers(wr, stripped, count);
}

static void write_refuse(struct ov_wr *wr, struct word *word)
{
    uint64_t attach;

    expect(&word->at, '#');
    attach = number(&word->at);
    expect(&word->at, '!');
    ov_refuse_encode(wr, attach, node_number(&word->at));
}

static void write_asked(struct ov_wr *wr, struct word *word)
{
    expect(&word->at, '#');
    ov_asked_encode(wr, number(&word->at));
}

static void write_limit(struct ov_wr *wr, struct word *word)
{
    uint64_t limit = number(&word->at);

    ov_limit_encode(wr, next_is(&word->at, '!') ? OV_ITEM_FINAL : 0, limit);
}

static void write_base(struct ov_wr *wr, struct word *word)
{
    struct ov_base base = {
        .stream = node_number(&word->at), .node = TOPO_NONE, .rank = TOPO_NONE};

    expect(&word->at, '=');
    base.base = number(&word->at);
    if (next_is(&word->at, '@'))
        base.node = node_number(&word->at);
    if (next_is(&word->at, '.'))
        base.rank = node_number(&word->at);
    ov_base_encode(wr, &base);
}

static void write_ack(struct ov_wr *wr, struct word *word)
{
    struct ov_ack ack = {.source = node_number(&word->at)};

    expect(&word->at, '=');
    ack.accepted = number(&word->at);
    expect(&word->at, '/');
    ack.taken = number(&word->at);
    ov_ack_encode(wr, &ack);
}

/* Writes PATH and LEFT. */
static void write_list(struct ov_wr *wr, struct word *word)
{
    uint32_t numbers[NUMBERS_MAX];
    uint16_t count = 1;

    numbers[0] = node_number(&word->at);
    count =
        (uint16_t)(1 + read_numbers(word, ',', numbers + 1, NUMBERS_MAX - 1));
    if (next_is(&word->at, '!'))
        word->flags |= OV_ITEM_FINAL;
    ov_numbers_encode(wr, word->kind, word->flags, count);
    write_numbers(wr, numbers, count);
}

static void write_missing(struct ov_wr *wr, struct word *word)
{
    struct ov_wr start = *wr;
    uint16_t count = 0;

    ov_wr_room(wr, OV_ITEM_HEAD_BYTES);
    do {
        ov_wr_u32(wr, node_number(&word->at));
        expect(&word->at, '#');
        ov_wr_u64(wr, number(&word->at));
        count++;
    } while (next_is(&word->at, ','));
    ov_missing_encode(&start, word->flags, count);
}

static void write_address(struct ov_wr *wr, struct word *word)
{
    uint32_t node = node_number(&word->at);
    size_t len_bytes;

    expect(&word->at, '=');
    len_bytes = strlen(word->at);
    ov_address_encode(wr, node, (uint16_t)len_bytes);
    ov_wr_bytes(wr, word->at, len_bytes);
    word->at += len_bytes;
}

static void write_look(struct ov_wr *wr, struct word *word)
{
    uint32_t node = node_number(&word->at);
    size_t len_bytes;
    uint64_t attach;

    expect(&word->at, '#');
    attach = number(&word->at);
    expect(&word->at, '=');
    len_bytes = strlen(word->at);
    ov_look_encode(wr, node, attach, (uint16_t)len_bytes);
    ov_wr_bytes(wr, word->at, len_bytes);
    word->at += len_bytes;
}

static void write_seen(struct ov_wr *wr, struct word *word)
{
    uint32_t node = node_number(&word->at);
    uint64_t attach;

    expect(&word->at, '#');
    attach = number(&word->at);
    ov_seen_encode(wr, node, attach, next_is(&word->at, '!'));
}

static void write_want(struct ov_wr *wr, struct word *word)
{
    (void)word;
    ov_want_encode(wr);
}

static const struct {
    const char *name;
    enum ov_item_kind kind;
    void (*write)(struct ov_wr *wr, struct word *word);
} kinds[] = {
    {"limit", OV_ITEM_LIMIT, write_limit},
    {"base", OV_ITEM_BASE, write_base},
    {"ack", OV_ITEM_ACK, write_ack},
    {"hello", OV_ITEM_HELLO, write_claim},
    {"ask", OV_ITEM_ASK, write_claim},
    {"asked", OV_ITEM_ASKED, write_asked},
    {"answer", OV_ITEM_ANSWER, write_answer},
    {"welcome", OV_ITEM_WELCOME, write_welcome},
    {"refuse", OV_ITEM_REFUSE, write_refuse},
    {"path", OV_ITEM_PATH, write_list},
    {"left", OV_ITEM_LEFT, write_list},
    {"missing", OV_ITEM_MISSING, write_missing},
    {"address", OV_ITEM_ADDRESS, write_address},
    {"want", OV_ITEM_WANT, write_want},
    {"look", OV_ITEM_LOOK, write_look},
    {"seen", OV_ITEM_SEEN, write_seen},
};

static void link_word(struct ov_wr *wr, char *text)
{
    char *colon = strchr(text, ':');
    size_t len = strlen(text);
    struct word word = {.flags = 0};

    if (len > 3 && strcmp(text + len - 3, "...") == 0) {
        word.flags = OV_ITEM_MORE;
        text[len - 3] = '\0';
    }
    if (colon != NULL)
        *colon = '\0';
    for (size_t i = 0; colon != NULL && i < sizeof(kinds) / sizeof(kinds[0]);
         i++) {
        if (strcmp(text, kinds[i].name) != 0)
            continue;
        word.kind = kinds[i].kind;
        word.at = colon + 1;
        kinds[i].write(wr, &word);
        if (*word.at != '\0')
            fail_msg("too much of a word: %s:%s", text, word.at);
        return;
    }
    fail_msg("no word of a LINK frame: %s", text);
}

static uint16_t link_words(struct ov_wr *wr, const char *words)
{
    static char copy[COPY_BYTES];
    uint16_t count = 0;
    char *word;

    assert_true(strlen(words) < sizeof(copy));
    strcpy(copy, words);
    for (word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        link_word(wr, word);
        count++;
    }
    return count;
}

/* --- records and streams */

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
