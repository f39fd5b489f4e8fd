/* The set of processes that the pushes of one writer are for, written as
 * messages. */
#include "job/push_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    MANY = 50,
    BYTES_MAX = 32 * 1024,
    SIZE_BYTES = OV_PUSH_HEAD_BYTES + 20 * OV_PUSH_RANGE_BYTES
};

static uint8_t mem[BYTES_MAX];

static uint32_t make(uint16_t flags, const struct topo_range *ranges,
                     uint16_t count, const char *text)
{
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, ranges, count);
    ov_wr_bytes(&wr, text, strlen(text));
    return (uint32_t)(wr.at - mem);
}

static struct ov_push decoded(const uint8_t *at, uint32_t len_bytes)
{
    struct ov_push push;

    assert_int_equal(ov_push_decode(at, len_bytes, &push), 0);
    return push;
}

/* Returns the message as "new:more:close:3-4,6-6=text". */
static const char *shown(const uint8_t *at, uint32_t len_bytes)
{
    static char text[4096];
    struct ov_push push = decoded(at, len_bytes);
    size_t len = 0;

    len += (size_t)snprintf(text, sizeof(text), "%s%s%s",
                            (push.flags & OV_PUSH_NEW) != 0 ? "new:" : "",
                            (push.flags & OV_PUSH_MORE) != 0 ? "more:" : "",
                            (push.flags & OV_PUSH_CLOSE) != 0 ? "close:" : "");
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u-%u",
                                i > 0 ? "," : "", range.first, range.last);
    }
    snprintf(text + len, sizeof(text) - len, "=%.*s", (int)push.len_bytes,
             (const char *)at + push.off_bytes);
    return text;
}

static void note(struct job_push_set *set, uint32_t len_bytes)
{
    job_push_set_note(set, decoded(mem, len_bytes));
}

static void it_is_what_was_said_last(void **state)
{
    struct job_push_set set = {.ranges = NULL};
    uint32_t len_bytes;

    (void)state;
    note(&set, make(OV_PUSH_NEW, (struct topo_range[]){{0, 9}}, 1, "x"));
    note(&set, make(OV_PUSH_NEW | OV_PUSH_MORE,
                    (struct topo_range[]){{1, 2}, {4, 4}}, 2, ""));
    note(&set, make(0, (struct topo_range[]){{6, 7}}, 1, "x"));
    note(&set, make(0, NULL, 0, "y"));
    len_bytes = make(OV_PUSH_CLOSE, NULL, 0, "text");
    assert_true(job_push_set_say_with(&set, mem, &len_bytes, SIZE_BYTES));
    assert_string_equal(shown(mem, len_bytes), "new:close:1-2,4-4,6-7=text");
    len_bytes = make(0, (struct topo_range[]){{8, 8}}, 1, "text");
    assert_false(job_push_set_say_with(&set, mem, &len_bytes, SIZE_BYTES));
    assert_string_equal(shown(mem, len_bytes), "8-8=text");
    job_push_set_close(&set);
}

/* An empty set is written with the head alone. */
static void an_empty_one_takes_no_room(void **state)
{
    const struct job_push_set set = {.ranges = NULL};
    const uint32_t whole = make(OV_PUSH_CLOSE, NULL, 0, "text");
    uint32_t len_bytes = whole;

    (void)state;
    assert_true(job_push_set_say_with(&set, mem, &len_bytes, whole));
    assert_int_equal(len_bytes, whole);
    assert_string_equal(shown(mem, len_bytes), "new:close:=text");
    len_bytes = make(OV_PUSH_MORE, (struct topo_range[]){{8, 8}}, 1, "");
    assert_true(job_push_set_say_with(&set, mem, &len_bytes, len_bytes));
    assert_string_equal(shown(mem, len_bytes), "new:more:8-8=");
}

/* A large set takes as many messages as needed, none of them longer than the
 * room. */
static void a_large_one_is_said_in_pieces(void **state)
{
    struct topo_range ranges[MANY];
    struct job_push_set set = {.ranges = NULL}, said = {.ranges = NULL};
    uint32_t len_bytes, count = 0, messages = 0;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        ranges[i] = (struct topo_range){2 * i, 2 * i};
    note(&set, make(OV_PUSH_NEW, ranges, MANY, ""));
    for (uint32_t size = 0; size < 2; size++) {
        uint32_t whole = make(0, NULL, 0, "abc");

        len_bytes = whole;
        assert_int_equal(
            job_push_set_say_with(&set, mem, &len_bytes,
                                  whole + MANY * OV_PUSH_RANGE_BYTES - size),
            size == 0);
    }
    while (count < set.count) {
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

        count += job_push_set_say(&set, count, &wr, SIZE_BYTES);
        assert_true(wr.at - mem <= SIZE_BYTES);
        note(&said, (uint32_t)(wr.at - mem));
        messages++;
    }
    assert_int_equal(messages, 3);
    assert_int_equal(said.count, MANY);
    assert_memory_equal(said.ranges, ranges, sizeof(ranges));
    job_push_set_close(&set);
    job_push_set_close(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_was_said_last),
        cmocka_unit_test(an_empty_one_takes_no_room),
        cmocka_unit_test(a_large_one_is_said_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
