/* The last state of each progress bar is kept, wherever reads cut its line. */
#include "text/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { SIZE = 1 << 16 };

static struct text_progress progress;
static uint8_t mem[SIZE + TEXT_PROGRESS_MAX];
static char given[2 * SIZE];
static size_t given_bytes;

static int clear(void **state)
{
    (void)state;
    progress = (struct text_progress){.held_bytes = 0};
    given_bytes = 0;
    return 0;
}

static void put(const char *text, size_t len_bytes, bool is_last)
{
    const uint32_t held = text_progress_begin(&progress, mem, sizeof(mem));
    uint32_t left;

    memcpy(mem + held, text, len_bytes);
    left =
        text_progress_keep(&progress, mem, held + (uint32_t)len_bytes, is_last);
    memcpy(given + given_bytes, mem, left);
    given_bytes += left;
    given[given_bytes] = '\0';
}

static const char *after(const char *text)
{
    given_bytes = 0;
    put(text, strlen(text), true);
    return given;
}

static void the_last_state_is_left(void **state)
{
    (void)state;
    assert_string_equal(after("10%\r20%\r100%\n"), "100%\n");
    assert_int_equal(progress.left_states, 2);
    assert_int_equal(progress.left_bytes, 8);
    assert_string_equal(after("\r10%\r20%"), "20%");
    assert_string_equal(after("a\n1\r2\nb\n3\r4\n"), "a\n2\nb\n4\n");
}

static void other_lines_stay(void **state)
{
    static const char *const lines[] = {"",    "a\n",      "a\r\n", "a",
                                        "a\r", "a\r\r\nb", "\n\n",  "\r\n"};

    (void)state;
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_string_equal(after(lines[i]), lines[i]);
    assert_int_equal(progress.left_states, 0);
    assert_int_equal(progress.left_bytes, 0);
}

/* An unfinished line without a bar is not held back, as it may be a prompt. */
static void only_bars_are_held(void **state)
{
    (void)state;
    put("name: ", 6, false);
    assert_string_equal(given, "name: ");
    put("x\n\r10%", 6, false);
    assert_string_equal(given, "name: x\n");
    put("\r20%", 4, false);
    assert_string_equal(given, "name: x\n");
    put("", 0, true);
    assert_string_equal(given, "name: x\n20%");
}

static void a_state_that_is_too_long_is_given(void **state)
{
    static char text[TEXT_PROGRESS_MAX + 2];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[0] = '\r';
    put(text, sizeof(text), false);
    assert_int_equal(given_bytes, sizeof(text) - 1);
    assert_int_equal(progress.held_bytes, 0);
}

/* Writes lines that begin with a bar. Returns their length. */
static size_t random_lines(struct chance *chance, char *text, size_t size)
{
    const char letters[] = "ab\r\r\n";
    bool begins = true;

    for (size_t at = 0; at < size; at++) {
        text[at] = begins ? '\r' : letters[chance_in(chance, 0, 4)];
        begins = text[at] == '\n';
    }
    return size;
}

/* Random pieces give the same result as the whole text, and the bytes that are
 * left out are counted. */
static void pieces_change_nothing(void **state)
{
    static char text[2000], whole[sizeof(text) + 1];
    struct chance chance = chance_start(11);

    (void)state;
    for (unsigned trial = 0; trial < 300; trial++) {
        const size_t len = random_lines(&chance, text, sizeof(text));

        clear(NULL);
        put(text, len, true);
        memcpy(whole, given, given_bytes + 1);
        assert_int_equal(given_bytes + progress.left_bytes, len);
        clear(NULL);
        for (size_t at = 0, piece; at < len; at += piece) {
            piece = chance_in(&chance, 1, 40);
            if (piece > len - at)
                piece = len - at;
            put(text + at, piece, at + piece == len);
        }
        assert_string_equal(given, whole);
        assert_int_equal(given_bytes + progress.left_bytes, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_last_state_is_left, clear),
        cmocka_unit_test_setup(other_lines_stay, clear),
        cmocka_unit_test_setup(only_bars_are_held, clear),
        cmocka_unit_test_setup(a_state_that_is_too_long_is_given, clear),
        cmocka_unit_test_setup(pieces_change_nothing, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
