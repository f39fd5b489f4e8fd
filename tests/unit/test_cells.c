/* What bytes look like in one row of a terminal. */
#include "config.h"

#include "text/cells.h"

#include "tests/unit/rig.h"

#include <string.h>

enum { ROOM_BYTES = 256 };

static void check_in(const char *text, uint32_t head_bytes, uint32_t columns,
                     const char *want)
{
    uint8_t row[ROOM_BYTES + 1];
    uint32_t len = text_cells_put((const uint8_t *)text, (uint32_t)strlen(text),
                                  head_bytes, columns, row, ROOM_BYTES);

    assert_true(len <= ROOM_BYTES);
    row[len] = '\0';
    assert_string_equal((const char *)row, want);
}

static void check(const char *text, const char *want)
{
    check_in(text, 0, 40, want);
}

static void words_stay_as_they_are(void **state)
{
    (void)state;
    check("", "");
    check(" 10%|###   | 1/10", " 10%|###   | 1/10");
    check("\xe2\x96\x88\xc3\xa9", "\xe2\x96\x88\xc3\xa9");
}

static void it_is_cut_by_what_it_takes_on_the_screen(void **state)
{
    (void)state;
    check_in("0: 10%", 0, 5, "0: 10");
    check_in("\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88", 0, 2,
             "\xe2\x96\x88\xe2\x96\x88");
    /* a wide character has no room in the last column */
    check_in("\xe4\xb8\x96\xe7\x95\x8c", 0, 3, "\xe4\xb8\x96");
    /* an accent that is a character of its own takes no column */
    check_in("e\xcc\x81x", 0, 1, "e\xcc\x81");
}

static void colours_stay_and_end(void **state)
{
    (void)state;
    check("\033[32mok\033[0m", "\033[32mok\033[0m\033[0m");
    check_in("\033[1;31m12345", 0, 3, "\033[1;31m123\033[0m");
    check("\033[?25lx\033[>4mx", "xx");
}

static void nothing_moves_the_cursor_away(void **state)
{
    (void)state;
    check("a\033[Ab\033[10;3Hc\033[Jd\033[2Je\0337f\033(Bg", "abcdefg");
    check("a\nb\rc\ad\x7f"
          "e\v\f",
          "abcde");
    check("\033]0;title\ax\033]8;;url\033\\y", "xy");
    check("\xc2\x9b"
          "2Jx",
          "2Jx"); /* a control character in UTF-8 */
    check("x\033[3", "x");
    check("x\033", "x");
}

static void what_erases_the_row_leaves_the_label(void **state)
{
    (void)state;
    check("old\033[2Knew", "new");
    check("old\033[1Knew\033[K", "new");
    check("50%\033[K", "50%");
    check_in("0: old\033[2Knew", 3, 40, "0: new");
    check("\033[32mold\033[2Knew", "\033[32mnew\033[0m");
}

static void backspaces_tabs_and_steps_are_done(void **state)
{
    (void)state;
    check("10%\b\b\b20%", "20%");
    check("|\b", "|");
    check_in("0: x\b\b\b\b\b\by", 3, 40, "0: y");
    check("\xe2\x96\x88\bx", "x");
    check("ab\tc", "ab      c");
    check("a\033[3Cb", "a   b");
}

static void what_is_no_character_is_a_question_mark(void **state)
{
    (void)state;
    check("a\xff\xe2\x96z", "a???z");
}

/* Any bytes and any room: never more than there is room for. */
static void there_is_always_room(void **state)
{
    static const char parts[] = "\033[31m\xe2\x96\x88x\t\b\xff\033[9C\033[2K";
    uint8_t text[64], row[80];
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint32_t room = TEXT_CELLS_END_BYTES + (uint32_t)round % 60, len;

        for (size_t i = 0; i < sizeof(text); i++) {
            seed = seed * 1103515245 + 12345;
            text[i] = (uint8_t)parts[(seed >> 16) % (sizeof(parts) - 1)];
        }
        len = text_cells_put(text, sizeof(text), 0, 1 + (seed >> 20) % 40, row,
                             room);
        assert_true(len <= room);
    }
}

static void characters_have_widths(void **state)
{
    (void)state;
    assert_int_equal(text_cells_width('a'), 1);
    assert_int_equal(text_cells_width(0x301), 0);
    assert_int_equal(text_cells_width(0x4e16), 2);
    assert_int_equal(text_cells_width(0x1f600), 2);
    assert_int_equal(text_cells_width(0x2588), 1);
    assert_int_equal(text_cells_width(0x10ffff), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_stay_as_they_are),
        cmocka_unit_test(it_is_cut_by_what_it_takes_on_the_screen),
        cmocka_unit_test(colours_stay_and_end),
        cmocka_unit_test(nothing_moves_the_cursor_away),
        cmocka_unit_test(what_erases_the_row_leaves_the_label),
        cmocka_unit_test(backspaces_tabs_and_steps_are_done),
        cmocka_unit_test(what_is_no_character_is_a_question_mark),
        cmocka_unit_test(there_is_always_room),
        cmocka_unit_test(characters_have_widths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
