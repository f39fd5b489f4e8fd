/* Names of output files. */
#include "endpoints/output/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "text/style.h"

static void expect_path(enum ep_names_kind kind, const char *text,
                        const char *want)
{
    const struct text_style style = {.nspace = "a/job"};
    const struct text_origin from = {.style = &style,
                                     .host = "u@n/1",
                                     .rank = 7,
                                     .channel = TEXT_CHANNEL_STDERR};
    const struct ep_names names = {.kind = kind, .text = text};
    char path[64];

    assert_int_equal(ep_names_path(&names, &from, path, sizeof(path)), 0);
    assert_string_equal(path, want);
    assert_int_equal(ep_names_path(&names, &from, path, strlen(want)),
                     OV_EFULL);
}

static uint32_t thrice(const void *arg, uint32_t rank)
{
    return *(const uint32_t *)arg * rank;
}

static void exact_names_are_those_of_srun(void **state)
{
    static const uint32_t factor = 3;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"x/y", "x/y"},
        {"%t-%r", "7-7"},
        {"%3t.%0t.%1t", "007.7.7"},
        {"%99t", "0000000007"},
        {"%n/%4n", "21/0021"},
        {"%N+%h+%9N", "u@n_1+u@n_1+u@n_1"},
        {"%j%%t%J", "a_job%ta_job"},
    };
    const struct text_style style = {.nspace = "a/job"};
    struct text_origin from = {.style = &style, .host = "u@n/1", .rank = 7};
    struct ep_names names = {
        .kind = EP_NAMES_EXACT, .node_of = thrice, .arg = &factor};
    char path[64];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        names.text = cases[i].text;
        names.err = cases[i].text;
        for (uint8_t channel = TEXT_CHANNEL_STDOUT; channel < TEXT_CHANNELS;
             channel++) {
            from.channel = channel;
            assert_int_equal(ep_names_path(&names, &from, path, sizeof(path)),
                             0);
            assert_string_equal(path, cases[i].want);
        }
        assert_null(ep_names_exact_fault(cases[i].text));
        assert_int_equal(ep_names_exact_has_node(cases[i].text), i == 4);
    }
    assert_string_equal(ep_names_exact_fault("a%%%t%x%n"), "%x%n");
    assert_string_equal(ep_names_exact_fault("a%5%"), "%5%");
    assert_string_equal(ep_names_exact_fault("a%12"), "%12");
    assert_string_equal(ep_names_exact_fault("a%"), "%");
}

static void an_exact_name_is_for_its_channels(void **state)
{
    struct ep_names names = {.kind = EP_NAMES_EXACT, .text = "x"};

    (void)state;
    assert_true(ep_names_has(&names, TEXT_CHANNEL_STDOUT));
    assert_false(ep_names_has(&names, TEXT_CHANNEL_STDERR));
    assert_false(ep_names_has(&names, TEXT_CHANNEL_STDDIAG));
    names = (struct ep_names){.kind = EP_NAMES_EXACT, .err = "x"};
    assert_false(ep_names_has(&names, TEXT_CHANNEL_STDOUT));
    assert_true(ep_names_has(&names, TEXT_CHANNEL_STDERR));
    assert_true(ep_names_has(&names, TEXT_CHANNEL_STDDIAG));
    assert_true(ep_names_is_shared(&names));
}

static void names_are_those_of_the_standard(void **state)
{
    (void)state;
    expect_path(EP_NAMES_DIR, "x/y", "x/y/a_job/rank.7/stderr");
    expect_path(EP_NAMES_FILE, "x/y%r", "x/y%r.a_job.7.stderr");
    expect_path(EP_NAMES_PATTERN, "x/y", "x/y.stderr");
    expect_path(EP_NAMES_PATTERN, "%n.%r-%h%%r%x%",
                "a_job.7-u@n_1%r%x%.stderr");
    assert_null(ep_names_fault("a%n%r%h%%r"));
    assert_string_equal(ep_names_fault("a%%%x%r"), "%x%r");
    assert_string_equal(ep_names_fault("a%"), "%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_standard),
        cmocka_unit_test(exact_names_are_those_of_srun),
        cmocka_unit_test(an_exact_name_is_for_its_channels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
