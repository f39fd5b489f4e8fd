/* Growing text and fields: any string is read back unchanged, and no string
 * breaks a line. */
#include "text/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fields_are_encoded_like_this(void **state)
{
    static const uint8_t bytes[] = {0x00, 0xab, 0x10};
    struct text_buf text = {0};

    (void)state;
    text_buf_puts(&text, "word");
    text_buf_field(&text, "plain-~!");
    text_buf_field(&text, "a b%\n\x7f\xc3\xa9\x01");
    text_buf_field(&text, "");
    text_buf_number(&text, UINT64_MAX);
    text_buf_hex(&text, bytes, sizeof(bytes));
    assert_false(text.bad);
    assert_string_equal(text.at, "word plain-~! a%20b%25%0A%7F%C3%A9%01 % "
                                 "18446744073709551615 00ab10");
    assert_int_equal(text.len_bytes, strlen(text.at));
    text_buf_fini(&text);
}

/* Strings of random bytes, mostly short ones, are read back as they were. */
static void any_string_survives_the_way(void **state)
{
    uint32_t dice = 20240601;

    (void)state;
    print_message("seed %u\n", dice);
    for (unsigned run = 0; run < 2000; run++) {
        char want[64] = "";
        struct text_buf text = {0};
        struct text_fields fields;

        for (unsigned i = 0; i < sizeof(want) - 1; i++) {
            dice = dice * 1664525u + 1013904223u;
            want[i] = (char)(dice >> 24);
        }
        text_buf_puts(&text, "k");
        text_buf_field(&text, want);
        text_buf_field(&text, "end");
        assert_null(memchr(text.at, '\n', text.len_bytes));
        fields = text_fields_init(text.at, text.len_bytes);
        assert_string_equal(text_fields_next(&fields), "k");
        assert_string_equal(text_fields_next(&fields), want);
        assert_string_equal(text_fields_next(&fields), "end");
        assert_true(text_fields_done(&fields));
        text_buf_fini(&text);
    }
}

static bool is_bad(const char *line)
{
    char copy[64];
    struct text_fields fields;
    bool bad;

    snprintf(copy, sizeof(copy), "%s", line);
    fields = text_fields_init(copy, strlen(copy));
    while (fields.at != NULL)
        text_fields_next(&fields);
    bad = fields.bad;
    assert_int_equal(text_fields_done(&fields), !bad);
    return bad;
}

static void ill_formed_fields_are_refused(void **state)
{
    static const char *const bad[] = {
        "",   " ",  "a ", " a",  "a  b", "a\tb", "a\rb",  "caf\xc3\xa9",
        "%2", "a%", "%%", "%zz", "%0g",  "%00",  "a%2 b", "\x7f"};
    static const char *const good[] = {"a", "%", "a % b", "%41", "%0a%0A"};

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(is_bad(bad[i]));
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_false(is_bad(good[i]));
}

static bool number_is(const char *digits, uint64_t min, uint64_t max,
                      uint64_t *value)
{
    char copy[64];
    struct text_fields fields;

    snprintf(copy, sizeof(copy), "%s", digits);
    fields = text_fields_init(copy, strlen(copy));
    *value = text_fields_number(&fields, min, max);
    return text_fields_done(&fields);
}

static void numbers_keep_their_bounds(void **state)
{
    static const char *const bad[] = {"-1",
                                      "+1",
                                      "1x",
                                      "x",
                                      "%",
                                      "0x10",
                                      "1.0",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    uint64_t value;

    (void)state;
    assert_true(number_is("18446744073709551615", 0, UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_true(number_is("0", 0, 0, &value) && value == 0);
    assert_true(number_is("3", 3, 5, &value) && value == 3);
    assert_true(number_is("5", 3, 5, &value) && value == 5);
    assert_false(number_is("2", 3, 5, &value));
    assert_true(value == 3);
    assert_false(number_is("6", 3, 5, &value));
    assert_false(number_is("7", 0, 5, &value));
    assert_false(number_is("10", 0, 9, &value));
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(number_is(bad[i], 0, UINT64_MAX, &value));
}

static void hex_wants_the_exact_length(void **state)
{
    static const char *const bad[] = {"00a", "00ab1", "00abcg", "%",
                                      "00abcdef"};
    static const uint8_t zero[3];
    uint8_t out[3];
    char line[16] = "00aBcD";
    struct text_fields fields = text_fields_init(line, 6);

    (void)state;
    text_fields_hex(&fields, out, sizeof(out));
    assert_true(text_fields_done(&fields));
    assert_memory_equal(out, "\x00\xab\xcd", 3);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(line, sizeof(line), "%s", bad[i]);
        fields = text_fields_init(line, strlen(line));
        text_fields_hex(&fields, out, sizeof(out));
        assert_true(fields.bad);
        assert_memory_equal(out, zero, sizeof(out));
    }
}

static void one_field_too_many_or_few_is_noticed(void **state)
{
    char line[] = "a b";
    struct text_fields fields = text_fields_init(line, 3);

    (void)state;
    text_fields_next(&fields);
    assert_false(text_fields_done(&fields));
    text_fields_next(&fields);
    assert_true(text_fields_done(&fields));
    assert_string_equal(text_fields_next(&fields), "");
    assert_true(fields.bad);
}

static void quoted_text_is_harmless_to_a_terminal(void **state)
{
    static const char rude[] = "one\r\ntwo\n\033[2Jthree\xc3\xa9\n\n";
    struct text_buf text = {0};

    (void)state;
    text_buf_quote(&text, rude, sizeof(rude) - 1, 100);
    assert_string_equal(text.at, "one / two / \\x1b[2Jthree\xc3\xa9");
    text_buf_clear(&text);
    text_buf_quote(&text, "abcdef", 6, 6);
    text_buf_quote(&text, "abcdef", 6, 5);
    assert_string_equal(text.at, "abcdefabcde...");
    text_buf_fini(&text);
}

/* The shell reads the quoted words as the original words. */
static void shell_words_survive_a_shell(void **state)
{
    static const char *const words[] = {"plain/path-1.0",
                                        "",
                                        "two words",
                                        "it's",
                                        "$HOME `id` \"x\" \\ ;&|*?",
                                        "new\nline",
                                        "~root",
                                        "-n"};
    struct text_buf text = {0};

    (void)state;
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char got[128] = "";
        FILE *pipe;

        text_buf_clear(&text);
        text_buf_puts(&text, "printf '<%s>' ");
        text_buf_shell_word(&text, words[i]);
        pipe = popen(text.at, "r");
        assert_non_null(pipe);
        got[fread(got, 1, sizeof(got) - 1, pipe)] = '\0';
        assert_int_equal(pclose(pipe), 0);
        assert_int_equal(strlen(got), strlen(words[i]) + 2);
        assert_memory_equal(got + 1, words[i], strlen(words[i]));
    }
    text_buf_clear(&text);
    text_buf_shell_word(&text, "/opt/x-1.0/bin");
    assert_string_equal(text.at, "/opt/x-1.0/bin");
    text_buf_fini(&text);
}

static void buffer_grows_and_shrinks(void **state)
{
    struct text_buf text = {0};

    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        text_buf_printf(&text, "%04u", i);
    assert_false(text.bad);
    assert_int_equal(text.len_bytes, 40000);
    text_buf_cut(&text, 4 * 9998);
    assert_int_equal(text.len_bytes, 8);
    assert_memory_equal(text.at, "99989999", 8);
    text_buf_cut(&text, 8);
    assert_int_equal(text.len_bytes, 0);
    text_buf_fini(&text);
    assert_null(text.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_encoded_like_this),
        cmocka_unit_test(any_string_survives_the_way),
        cmocka_unit_test(ill_formed_fields_are_refused),
        cmocka_unit_test(numbers_keep_their_bounds),
        cmocka_unit_test(hex_wants_the_exact_length),
        cmocka_unit_test(one_field_too_many_or_few_is_noticed),
        cmocka_unit_test(quoted_text_is_harmless_to_a_terminal),
        cmocka_unit_test(shell_words_survive_a_shell),
        cmocka_unit_test(buffer_grows_and_shrinks),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
