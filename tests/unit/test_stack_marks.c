/* How the texts of processes are found in the output of a node. */
#include "commands/stack/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

static char seen[8192];

static void on_look(void *arg, const struct stack_look *look)
{
    const size_t at = strlen(seen);

    (void)arg;
    snprintf(seen + at, sizeof(seen) - at, "%u %u %d %s %u%s%s: '%.*s'\n",
             look->rank, look->pid, (int)look->tool, look->name, look->status,
             look->is_gone ? " gone" : "", look->is_cut ? " cut" : "",
             (int)(look->len_bytes < 99 ? look->len_bytes : 99), look->text);
}

/* Reads the text in pieces of this many bytes at most. */
static const char *read_pieces(const char *text, size_t len, size_t most)
{
    struct stack_stream stream = {.mark = "MARK", .on_look = on_look};

    seen[0] = '\0';
    for (size_t at = 0; at < len; at += most)
        assert_int_equal(stack_stream_read(&stream, text + at,
                                           len - at < most ? len - at : most),
                         0);
    stack_stream_free(&stream);
    return seen;
}

/* A text is the bytes between its marks, in whatever pieces they come; bytes
 * outside, and incomplete marks, are ignored. */
static void texts_are_what_is_between_the_marks(void **state)
{
    static const char text[] = "before\n"
                               "MARK begin 3 77 gdb my prog\n"
                               "one\n\nMARK\n MARK end 1 S\nMARK end x\ntwo\n"
                               "\nMARK end 0 S\n"
                               "between\nMARK end 0 S\n"
                               "MARK begin 4 78 own \n"
                               "open"
                               "\nMARK end 124 gone\n"
                               "MARK begin 5 79 none p\n"
                               "\nMARK end 127 R\n"
                               "MARK begin 5 x none p\n"
                               "MARK begin 6 80 eu-stack p\nnever ended";
    static const char want[] =
        "3 77 1 my prog 0: 'one\n\nMARK\n MARK end 1 S\nMARK end x\ntwo\n'\n"
        "4 78 3  124 gone: 'open'\n"
        "5 79 0 p 127: ''\n";

    (void)state;
    for (size_t most = 1; most < sizeof(text); most++)
        assert_string_equal(read_pieces(text, sizeof(text) - 1, most), want);
}

/* A text without an end is cut at a limit, and the next one is complete. */
static void a_long_text_is_cut(void **state)
{
    static const char head[] = "MARK begin 1 2 own p\n";
    static const char tail[] = "\nMARK end 0 S\nMARK begin 2 3 own q\nx"
                               "\nMARK end 0 S\n";
    const size_t size = 3 * STACK_TEXT_MAX;
    char *text = malloc(size + sizeof(head) + sizeof(tail));
    size_t len;

    (void)state;
    assert_non_null(text);
    for (int has_lines = 0; has_lines < 2; has_lines++) {
        len = (size_t)sprintf(text, "%s", head);
        memset(text + len, 'y', size);
        for (size_t at = 0; has_lines && at < size; at += 50)
            text[len + at] = '\n';
        len += size;
        len += (size_t)sprintf(text + len, "%s", tail);
        (void)read_pieces(text, len, 65536);
        assert_non_null(strstr(seen, "1 2 3 p 0 cut: '"));
        assert_non_null(strstr(seen, "'\n2 3 3 q 0: 'x'\n"));
    }
    free(text);
}

/* Any bytes are read, in pieces of any size. */
static void any_bytes_are_read(void **state)
{
    static const char *const words[] = {"MARK ",   "begin ",       "end ", "1 ",
                                        "gdb ",    "own ",         "gone", "\n",
                                        "\nMARK ", "999999999999 "};
    struct chance chance = chance_start(5);

    (void)state;
    for (int turn = 0; turn < 5000; turn++) {
        char text[512];
        size_t len = 0;

        while (len < 400) {
            if (chance_is(&chance, 10))
                text[len++] = (char)chance_in(&chance, 0, 255);
            else
                len += (size_t)sprintf(
                    text + len, "%s",
                    words[chance_in(&chance, 0,
                                    sizeof(words) / sizeof(words[0]) - 1)]);
        }
        (void)read_pieces(text, len, chance_in(&chance, 1, 60));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_what_is_between_the_marks),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(any_bytes_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
