/* Programs beside the running one: the folder is that of this test program, and
 * the programs to find are made there. */
#include "endpoints/sys/beside.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static void folder_is_that_of_the_running_program(void **state)
{
    char dir[PATH_MAX], small[PATH_MAX];
    size_t len;

    (void)state;
    assert_int_equal(ep_beside_folder(dir, sizeof(dir)), 0);
    len = strlen(dir);
    assert_int_equal(dir[0], '/');
    assert_int_equal(dir[len - 1], '/');
    /* The buffer must also have room for the program's name. */
    assert_int_equal(ep_beside_folder(small, len), OV_EINVAL);
    assert_string_equal(small, "");
}

static void path_is_beside_this_program(void **state)
{
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(ep_beside_path("test_beside", path, sizeof(path)), 0);
    assert_int_equal(access(path, X_OK), 0);
    assert_int_equal(path[0], '/');
    assert_int_equal(ep_beside_path("test_beside", path, 5), OV_EINVAL);
}

static void path_that_just_fits_is_whole(void **state)
{
    char dir[PATH_MAX], path[PATH_MAX];
    const char *name = "a-name-that-is-longer-than-that-of-this-test";
    size_t len;

    (void)state;
    assert_int_equal(ep_beside_folder(dir, sizeof(dir)), 0);
    len = strlen(dir) + strlen(name);
    assert_int_equal(ep_beside_path(name, path, len), OV_EINVAL);
    assert_int_equal(ep_beside_path(name, path, len + 1), 0);
    assert_int_equal(strlen(path), len);
    assert_string_equal(path + strlen(dir), name);
}

static void environment_names_the_program(void **state)
{
    char path[EP_BESIDE_MAX];

    (void)state;
    assert_int_equal(setenv("XYLEM_BESIDE", "/bin/sh", 1), 0);
    assert_int_equal(ep_beside_find("no-such-one", "XYLEM_BESIDE", "x", path),
                     0);
    assert_string_equal(path, "/bin/sh");
    /* A wrong path in the variable is not replaced by another folder. */
    assert_int_equal(setenv("XYLEM_BESIDE", "/no/such/program", 1), 0);
    assert_int_equal(ep_beside_find("test_beside", "XYLEM_BESIDE", "x", path),
                     OV_ENOENT);
    assert_int_equal(setenv("XYLEM_BESIDE", "", 1), 0);
    assert_int_equal(ep_beside_find("test_beside", "XYLEM_BESIDE", "x", path),
                     0);
    assert_int_equal(unsetenv("XYLEM_BESIDE"), 0);
    assert_int_equal(ep_beside_find("no-such-one", "XYLEM_BESIDE", "x", path),
                     OV_ENOENT);
}

/* As in a build tree: the program is in a folder `below` beside that of the
 * running one. */
static void folder_of_a_build_tree_is_looked_at(void **state)
{
    char dir[PATH_MAX], program[PATH_MAX + 64], path[EP_BESIDE_MAX];
    FILE *file;

    (void)state;
    assert_int_equal(ep_beside_path("../beside-test", dir, sizeof(dir)), 0);
    snprintf(program, sizeof(program), "%s/helper", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    file = fopen(program, "w");
    assert_non_null(file);
    fclose(file);
    /* A file that cannot be executed is no program. */
    assert_int_equal(
        ep_beside_find("helper", "XYLEM_BESIDE", "beside-test", path),
        OV_ENOENT);
    assert_int_equal(chmod(program, 0700), 0);
    assert_int_equal(
        ep_beside_find("helper", "XYLEM_BESIDE", "beside-test", path), 0);
    assert_int_equal(access(path, X_OK), 0);
    assert_int_equal(unlink(program), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folder_is_that_of_the_running_program),
        cmocka_unit_test(path_is_beside_this_program),
        cmocka_unit_test(path_that_just_fits_is_whole),
        cmocka_unit_test(environment_names_the_program),
        cmocka_unit_test(folder_of_a_build_tree_is_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
