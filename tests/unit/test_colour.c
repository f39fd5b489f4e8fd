/* A terminal colour is on after an escape sequence that does not end with 0, in
 * whatever pieces the sequence comes. */
#include "endpoints/console/colour.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *text;
    bool is_on;
} cases[] = {
    {"plain", false},
    {"\033[31mred", true},
    {"\033[31mred\033[0m", false},
    {"\033[31mred\033[m", false},
    {"\033[31mred\033[00m\n", false},
    {"\033[0;1;31mred\n", true},
    {"\033[1;0m", false},
    {"\033[1;m", false},
    {"\033[10m", true},
    {"\033[38:2:1:2:3m", true},
    {"\033[31m\033[K\033[2J", true},    /* sequences that do not set a colour */
    {"\033[31m\033]0;title\007", true}, /* another sequence that does not set a
                                         * colour */
    {"\033[31", false},                 /* an incomplete sequence */
    {"\033\033[31m", true},
    {"\033[3\033[31m", true},
    {"\033x[31m", false},
};

static void each_sequence_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t len = strlen(cases[i].text);

        for (size_t cut = 0; cut <= len; cut++) {
            const uint8_t *mem = (const uint8_t *)cases[i].text;
            struct ep_colour colour = {.proc = 7};

            ep_colour_take(&colour, 3, mem, cut);
            ep_colour_take(&colour, 3, mem + cut, len - cut);
            if (colour.is_on != cases[i].is_on)
                fail_msg("case %zu, cut at %zu", i, cut);
            assert_int_equal(ep_colour_is_strange(&colour, 4), colour.is_on);
            assert_false(ep_colour_is_strange(&colour, 3));
        }
    }
}

/* Output of another process begins without a colour, also after an incomplete
 * sequence. */
static void another_process_begins_anew(void **state)
{
    struct ep_colour colour = {.proc = 0};

    (void)state;
    ep_colour_take(&colour, 1, (const uint8_t *)"\033[31m\033[3", 8);
    ep_colour_take(&colour, 2, NULL, 0);
    assert_true(ep_colour_is_strange(&colour, 2));
    ep_colour_take(&colour, 2, (const uint8_t *)"2mx", 3);
    assert_false(colour.is_on);
    assert_false(ep_colour_is_strange(&colour, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sequence_counts),
        cmocka_unit_test(another_process_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
