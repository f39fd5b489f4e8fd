/* Where output goes, by what the options say. */
#include "endpoints/run/style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FD = 17 };

/* Replaces the console's defaults, which have a test of their own. */
void ep_console_cfg_init(struct ep_console_cfg *cfg)
{
    *cfg = (struct ep_console_cfg){.fd_stdout = FD};
}

static struct ep_run_options options;

static struct ep_output_cfg cfg_of(void)
{
    struct ep_output_cfg cfg;

    memset(&cfg, 0xff, sizeof(cfg));
    ep_run_output_cfg(&options, "job", &cfg);
    options = (struct ep_run_options){.raw = false};
    return cfg;
}

static void nothing_said_is_the_console_with_its_defaults(void **state)
{
    struct ep_output_cfg cfg = cfg_of();

    (void)state;
    assert_int_equal(cfg.console.fd_stdout, FD);
    assert_false(cfg.console.is_raw);
    assert_true(text_style_is_plain(&cfg.console.style));
    assert_string_equal(cfg.console.style.nspace, "job");
    assert_int_equal(cfg.names.kind, EP_NAMES_NONE);
    assert_false(cfg.file_only);
}

static void the_style_is_that_of_the_options_with_the_jobs_name(void **state)
{
    struct ep_output_cfg cfg;

    (void)state;
    options.raw = true;
    options.style.nspace = "another";
    options.style.label = TEXT_LABEL_HOST;
    options.style.has_time = true;
    cfg = cfg_of();
    assert_true(cfg.console.is_raw);
    assert_string_equal(cfg.console.style.nspace, "job");
    assert_int_equal(cfg.console.style.label, TEXT_LABEL_HOST);
    assert_true(cfg.console.style.has_time);
}

/* A directory, a file for all, or one for each where the name says so. */
static void files_are_named_by_what_was_given(void **state)
{
    struct ep_output_cfg cfg;

    (void)state;
    options.output_dir = "here";
    options.file_only = true;
    cfg = cfg_of();
    assert_int_equal(cfg.names.kind, EP_NAMES_DIR);
    assert_string_equal(cfg.names.text, "here");
    assert_true(cfg.file_only);
    options.output_file = "all.txt";
    cfg = cfg_of();
    assert_int_equal(cfg.names.kind, EP_NAMES_FILE);
    assert_string_equal(cfg.names.text, "all.txt");
    options.output_file = "%r.txt";
    cfg = cfg_of();
    assert_int_equal(cfg.names.kind, EP_NAMES_PATTERN);
    assert_string_equal(cfg.names.text, "%r.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_console_with_its_defaults),
        cmocka_unit_test(the_style_is_that_of_the_options_with_the_jobs_name),
        cmocka_unit_test(files_are_named_by_what_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
