/* Where output goes, depending on the options. */
#include "endpoints/run/style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

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

static const char *host_of(const void *arg, uint32_t rank)
{
    return ((const char *const *)arg)[rank];
}

static void labels_are_as_wide_as_the_largest(void **state)
{
    static const char *const hosts[] = {"a", "node10", "node9"};
    struct text_style style = {.label = TEXT_LABEL_RANK, .host_bytes = 9};

    (void)state;
    ep_run_style_fit(&style, 101, host_of, hosts);
    assert_int_equal(style.rank_digits, 3);
    assert_int_equal(style.host_bytes, 0);
    style.label = TEXT_LABEL_HOST;
    ep_run_style_fit(&style, 3, host_of, hosts);
    assert_int_equal(style.rank_digits, 1);
    assert_int_equal(style.host_bytes, 6);
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

/* The output goes to a directory, to one file for all processes, or to one file
 * for each when the name has a place for the rank. */
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

/* stderr goes to the file of stdout unless it has its own; when both have a
 * file nothing is left for the console. */
static void exact_names_are_given_by_channel(void **state)
{
    struct ep_output_cfg cfg;

    (void)state;
    options.output = "out";
    cfg = cfg_of();
    assert_int_equal(cfg.names.kind, EP_NAMES_EXACT);
    assert_string_equal(cfg.names.text, "out");
    assert_string_equal(cfg.names.err, "out");
    assert_true(cfg.file_only);
    options.error = "err";
    cfg = cfg_of();
    assert_int_equal(cfg.names.kind, EP_NAMES_EXACT);
    assert_null(cfg.names.text);
    assert_string_equal(cfg.names.err, "err");
    assert_false(cfg.file_only);
    options.output = "out";
    options.error = "err";
    cfg = cfg_of();
    assert_string_equal(cfg.names.text, "out");
    assert_string_equal(cfg.names.err, "err");
    assert_true(cfg.file_only);
}

static void what_is_no_special_file_is_not_opened(void **state)
{
    char why[EP_WHY_MAX];
    int fds[2];

    (void)state;
    options.output = "/dev/null";
    options.error = "/no/such/place";
    assert_int_equal(ep_run_output_look(&options, fds, why), 0);
    assert_true(fds[0] >= 0);
    assert_int_equal(fds[1], -1);
    close(fds[0]);
    options.output = "/%t";
    options.error = "/";
    assert_int_equal(ep_run_output_look(&options, fds, why), OV_EINVAL);
    assert_string_equal(why, "--error: '/': it is a directory");
    assert_int_equal(fds[0], -1);
    options = (struct ep_run_options){.raw = false};
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_console_with_its_defaults),
        cmocka_unit_test(labels_are_as_wide_as_the_largest),
        cmocka_unit_test(the_style_is_that_of_the_options_with_the_jobs_name),
        cmocka_unit_test(files_are_named_by_what_was_given),
        cmocka_unit_test(exact_names_are_given_by_channel),
        cmocka_unit_test(what_is_no_special_file_is_not_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
