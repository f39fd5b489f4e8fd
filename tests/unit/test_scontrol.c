/* Questions to Slurm: the scontrol here is a script that gives answers of the
 * test. */
#include "endpoints/run/scontrol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static char dir[] = "scontrol-XXXXXX"; /* a folder in TMPDIR, which belongs to
                                        * the test */

/* Writes the script where it is found first. */
static void write_script(const char *text)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/scontrol", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static int open_dir(void **state)
{
    char path[4096];

    (void)state;
    assert_int_equal(chdir(getenv("TMPDIR")), 0);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/%s:%s", getenv("TMPDIR"), dir,
             getenv("PATH"));
    return setenv("PATH", path, 1);
}

static void expect(int want, const char *list)
{
    struct text_buf out = {0};

    assert_int_equal(ep_scontrol_nodes("7", &out), want);
    assert_string_equal(want == 0 ? out.at : "", list);
    text_buf_fini(&out);
}

static void nodes_are_those_of_the_job(void **state)
{
    (void)state;
    write_script("test \"$*\" = '-o show job 7' || exit 1\n"
                 "echo 'ReqNodeList=h1 NodeList=h[1-3,7] NumNodes=4'");
    expect(0, "h[1-3,7]");
    write_script("echo ' NodeList=h1'; exit 1");
    expect(OV_ENOENT, "");
    write_script("echo 'ReqNodeList=h1'");
    expect(OV_ENOENT, "");
    write_script("exec sleep 1000");
    expect(OV_ENOENT, "");
}

/* The asking process is stopped for longer than an answer may take; the answer
 * is there when it goes on. */
static void an_answer_that_is_there_is_not_late(void **state)
{
    (void)state;
    write_script("kill -STOP $PPID\n"
                 "echo ' NodeList=h1 '\n"
                 "exec >&-\n"
                 "sleep 2.2\n"
                 "kill -CONT $PPID");
    expect(0, "h1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_those_of_the_job),
        cmocka_unit_test(an_answer_that_is_there_is_not_late),
    };

    _Static_assert((int)EP_SCONTROL_MS < 2200, "the stop is longer");
    return cmocka_run_group_tests(tests, open_dir, NULL);
}
