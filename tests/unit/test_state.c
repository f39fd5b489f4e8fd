/* Words of a node to the launcher: what is said is heard. */
#include "endpoints/msg/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static const struct ep_state words[] = {
    {.kind = EP_STATE_STARTED, .value = 7},
    {.kind = EP_STATE_EXIT, .rank = 0x01020304, .value = 0x8b00},
    {.kind = EP_STATE_FAILED, .rank = 3, .value = 2, .text = "exec"},
    {.kind = EP_STATE_LOST, .value = 4},
    {.kind = EP_STATE_USAGE, .usage = {UINT64_MAX, 2, 3, UINT64_C(1) << 40, 5}},
    {.kind = EP_STATE_NOTE, .text = "a word for the user"},
};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

/* Several words travel in one record, one behind the other. */
static void words_in_a_row_are_heard_as_said(void **state)
{
    uint8_t mem[1024];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd;

    (void)state;
    for (unsigned i = 0; i < WORDS; i++)
        ep_state_encode(&wr, &words[i]);
    assert_false(wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    for (unsigned i = 0; i < WORDS; i++) {
        struct ep_state heard;

        assert_int_equal(ep_state_decode(&rd, &heard), 0);
        assert_int_equal(heard.kind, words[i].kind);
        assert_int_equal(heard.rank, words[i].rank);
        assert_int_equal(heard.value, words[i].value);
        assert_string_equal(heard.text, words[i].text);
        assert_memory_equal(&heard.usage, &words[i].usage, sizeof(heard.usage));
    }
    assert_int_equal(ov_rd_left(&rd), 0);
}

static void an_exit_is_these_bytes(void **state)
{
    static const uint8_t golden[] = {2, 8, 0, 4, 3, 2, 1, 0, 0x8b, 0, 0};
    uint8_t mem[32];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    (void)state;
    ep_state_encode(&wr, &words[1]);
    assert_int_equal(wr.at - mem, sizeof(golden));
    assert_memory_equal(mem, golden, sizeof(golden));
}

static void half_a_word_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WORDS; i++) {
        uint8_t mem[128];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct ep_state heard;

        ep_state_encode(&wr, &words[i]);
        for (size_t len = 0; len < (size_t)(wr.at - mem); len++) {
            struct ov_rd rd = ov_rd_init(mem, len);

            assert_int_equal(ep_state_decode(&rd, &heard), OV_EPROTO);
        }
    }
}

static void what_says_nothing_is_refused(void **state)
{
    static const uint8_t bad[][8] = {
        {0, 4, 0, 1, 0, 0, 0},              /* no kind */
        {EP_STATE_KINDS, 4, 0, 1, 0, 0, 0}, /* nor this */
        {EP_STATE_STARTED, 3, 0, 1, 0, 0},  /* too short inside */
        {EP_STATE_STARTED, 5, 0, 1, 0, 0, 0, 0},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ov_rd rd = ov_rd_init(bad[i], sizeof(bad[i]));
        struct ep_state heard;

        assert_int_equal(ep_state_decode(&rd, &heard), OV_EPROTO);
    }
}

/* One byte more than a text may have. */
static void a_longer_text_is_refused(void **state)
{
    uint8_t mem[3 + EP_STATE_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd = ov_rd_init(mem, sizeof(mem));
    struct ep_state heard;

    (void)state;
    memset(mem, 'x', sizeof(mem));
    ov_wr_u8(&wr, EP_STATE_NOTE);
    ov_wr_u16(&wr, EP_STATE_BYTES_MAX);
    assert_int_equal(ep_state_decode(&rd, &heard), OV_EPROTO);
    wr = ov_wr_init(mem + 1, 2);
    ov_wr_u16(&wr, EP_STATE_BYTES_MAX - 1);
    rd = ov_rd_init(mem, sizeof(mem));
    assert_int_equal(ep_state_decode(&rd, &heard), 0);
    assert_int_equal(strlen(heard.text), EP_STATE_BYTES_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_a_row_are_heard_as_said),
        cmocka_unit_test(an_exit_is_these_bytes),
        cmocka_unit_test(half_a_word_is_refused),
        cmocka_unit_test(what_says_nothing_is_refused),
        cmocka_unit_test(a_longer_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
