/* Where the address of a dvm is written, and which errors can prevent that. */
#include "config.h"

#include "endpoints/run/report.h"

#include "tests/unit/rig.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "endpoints/run/voice.h"
#include "tests/unit/plan_rig.h"

#define URI       "xylem-dvm-1a2b;tcp4://127.0.0.1:4711"
#define OTHER_URI "xylem-dvm-3c4d;tcp4://127.0.0.1:4712"

struct report {
    char folder[PATH_MAX], path[PATH_MAX + 8];
    struct event_base *base;
    struct run_voice voice;
    struct run_report *report;
    struct capture said;
};

static void fx_make(struct report *fx)
{
    const char *top = getenv("TMPDIR");

    memset(fx, 0, sizeof(*fx));
    snprintf(fx->folder, sizeof(fx->folder), "%s/report.XXXXXX",
             top != NULL ? top : "/tmp");
    assert_non_null(mkdtemp(fx->folder));
    snprintf(fx->path, sizeof(fx->path), "%s/uri", fx->folder);
}

/* Returns 0, or the exit code; said.text has the message for the user. */
static int fx_open(struct report *fx)
{
    int rc;

    capture_begin(&fx->said);
    rc = ep_run_report_open(fx->path, &fx->voice, &fx->report);
    capture_end(&fx->said);
    if (rc == 0)
        fx->base = event_base_new();
    return rc;
}

static int fx_put(struct report *fx, const char *uri)
{
    int rc;

    capture_begin(&fx->said);
    rc = ep_run_report_put(fx->report, fx->base, uri);
    capture_end(&fx->said);
    return rc;
}

static void fx_close(struct report *fx)
{
    ep_run_report_close(fx->report);
    ep_voice_fini(&fx->voice);
    if (fx->base != NULL)
        event_base_free(fx->base);
    unlink(fx->path);
    assert_int_equal(rmdir(fx->folder), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path, const char *text)
{
    char got[2048] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, text);
}

static void it_is_one_line_that_goes_with_us(void **state)
{
    struct report fx;

    (void)state;
    fx_make(&fx);
    assert_int_equal(fx_open(&fx), 0);
    assert_int_equal(access(fx.path, F_OK), -1);
    assert_int_equal(fx_put(&fx, URI), 0);
    expect_text(fx.path, URI "\n");
    assert_int_equal(fx_put(&fx, OTHER_URI), 0);
    expect_text(fx.path, OTHER_URI "\n");
    ep_run_report_close(fx.report);
    fx.report = NULL;
    assert_int_equal(access(fx.path, F_OK), -1);
    fx_close(&fx);
}

static void what_is_anothers_is_left_alone(void **state)
{
    static const char *const texts[] = {"mine", URI, "a\n" URI "\n"};
    struct report fx;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        fx_make(&fx);
        write_text(fx.path, texts[i]);
        assert_int_equal(fx_open(&fx), 2);
        assert_non_null(strstr(fx.said.text, "was not written by a dvm"));
        expect_text(fx.path, texts[i]);
        fx_close(&fx);
    }
}

static void a_former_ones_goes_at_once(void **state)
{
    struct report fx;

    (void)state;
    fx_make(&fx);
    write_text(fx.path, OTHER_URI "\n");
    assert_int_equal(fx_open(&fx), 0);
    assert_int_equal(access(fx.path, F_OK), -1);
    fx_close(&fx);
}

static void that_of_one_that_lives_stays(void **state)
{
    struct report fx;
    struct run_report *first;

    (void)state;
    fx_make(&fx);
    assert_int_equal(fx_open(&fx), 0);
    assert_int_equal(fx_put(&fx, URI), 0);
    first = fx.report;
    assert_int_equal(fx_open(&fx), 2);
    expect_text(fx.path, URI "\n");
    fx.report = first;
    fx_close(&fx);
}

/* When the file was replaced meanwhile, a new address is reported as missing
 * once, which is no error. */
static void what_came_in_between_is_left_alone(void **state)
{
    struct report fx;

    (void)state;
    fx_make(&fx);
    assert_int_equal(fx_open(&fx), 0);
    assert_int_equal(fx_put(&fx, URI), 0);
    unlink(fx.path);
    write_text(fx.path, "mine");
    assert_int_equal(fx_put(&fx, OTHER_URI), 0);
    assert_non_null(strstr(fx.said.text, "may be out of date"));
    assert_int_equal(fx_put(&fx, URI), 0);
    assert_string_equal(fx.said.text, "");
    ep_run_report_close(fx.report);
    fx.report = NULL;
    expect_text(fx.path, "mine");
    fx_close(&fx);
}

static void the_first_must_be_written(void **state)
{
    struct report fx;

    (void)state;
    fx_make(&fx);
    assert_int_equal(fx_open(&fx), 0);
    write_text(fx.path, "mine");
    assert_int_equal(fx_put(&fx, URI), -1);
    assert_non_null(strstr(fx.said.text, "--report-uri: cannot write"));
    fx_close(&fx);
}

static bool has_line(const void *arg)
{
    int bytes = 0;

    return ioctl(*(const int *)arg, FIONREAD, &bytes) == 0 && bytes > 0;
}

static void a_pipe_gets_it_when_somebody_reads(void **state)
{
    struct report fx;
    char line[sizeof(URI) + 1];
    int fd;

    (void)state;
    fx_make(&fx);
    assert_int_equal(mkfifo(fx.path, 0600), 0);
    assert_int_equal(fx_open(&fx), 0);
    assert_int_equal(fx_put(&fx, URI), 0);
    fd = open(fx.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    rig_run_until_true(fx.base, has_line, &fd);
    assert_int_equal(read(fd, line, sizeof(line)), sizeof(URI));
    assert_memory_equal(line, URI "\n", sizeof(URI));
    close(fd);
    ep_run_report_close(fx.report);
    fx.report = NULL;
    assert_int_equal(access(fx.path, F_OK), 0);
    fx_close(&fx);
}

static void where_no_file_can_be_made_is_said_before(void **state)
{
    struct report fx;

    (void)state;
    fx_make(&fx);
    snprintf(fx.path, sizeof(fx.path), "/no/such/folder/uri");
    assert_int_equal(fx_open(&fx), 2);
    assert_non_null(strstr(fx.said.text, "No such file or directory"));
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_line_that_goes_with_us),
        cmocka_unit_test(what_is_anothers_is_left_alone),
        cmocka_unit_test(a_former_ones_goes_at_once),
        cmocka_unit_test(that_of_one_that_lives_stays),
        cmocka_unit_test(what_came_in_between_is_left_alone),
        cmocka_unit_test(the_first_must_be_written),
        cmocka_unit_test(a_pipe_gets_it_when_somebody_reads),
        cmocka_unit_test(where_no_file_can_be_made_is_said_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
