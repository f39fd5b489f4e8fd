/* Folders of PMIx servers, in a TMPDIR of this test: what is made, what is
 * removed with it, and what a sweep leaves alone. */
#include "pmix_api/folder.h"

#include <errno.h>
#include <fcntl.h>
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

/* A mark that begins with this belongs to a dead process. */
#define DEAD "dead"

static bool is_gone(const char *mark)
{
    return strncmp(mark, DEAD, strlen(DEAD)) == 0;
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

/* Makes a folder with a file and a folder in it, like that of a server. */
static void make_folder(const char *name, mode_t mode)
{
    char path[PX_PATH_MAX];

    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(path, sizeof(path), "%s/server", name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/server/file", name);
    make_file(path);
    assert_int_equal(chmod(name, mode), 0);
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void name_says_whose_it_is_and_is_new(void **state)
{
    char first[PX_PATH_MAX], second[PX_PATH_MAX], bare[PX_PATH_MAX];
    size_t len = strlen(px_folder_top());

    (void)state;
    assert_int_equal(px_folder_name("1-2-3", first), 0);
    assert_int_equal(px_folder_name("1-2-3", second), 0);
    assert_int_equal(px_folder_name("", bare), 0);
    assert_memory_equal(first + len, "/xylem-pmix-1-2-3-", 18);
    assert_int_equal(strlen(first), len + 18 + 16);
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(bare), len + 12 + 16);
}

static void folder_goes_with_all_that_is_in_it(void **state)
{
    char path[PX_PATH_MAX], file[PX_PATH_MAX + 8];
    struct stat st;

    (void)state;
    assert_int_equal(px_folder_name("", path), 0);
    assert_int_equal(px_folder_make(path), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(px_folder_make(path), OV_ESYS);
    assert_int_equal(errno, EEXIST);
    snprintf(file, sizeof(file), "%s/file", path);
    make_file(file);
    px_folder_remove(path);
    assert_false(is_there(path));
    px_folder_remove(path);
}

static void sweep_takes_those_of_the_dead_alone(void **state)
{
    (void)state;
    make_folder("xylem-pmix-dead-1", 0700);
    make_folder("xylem-pmix-dead-2", 0755);
    make_folder("xylem-pmix-lives", 0700);
    make_folder("xylem-dead", 0700);
    make_folder("dead", 0700);
    px_folder_sweep(px_folder_top(), is_gone);
    assert_false(is_there("xylem-pmix-dead-1"));
    assert_false(is_there("xylem-pmix-dead-2"));
    assert_true(is_there("xylem-pmix-lives/server/file"));
    assert_true(is_there("xylem-dead/server/file"));
    assert_true(is_there("dead/server/file"));
    px_folder_remove("xylem-pmix-lives");
    px_folder_remove("xylem-dead");
    px_folder_remove("dead");
}

/* Symbolic links that replace folders, or lie in them, are not followed. */
static void sweep_follows_no_link(void **state)
{
    (void)state;
    make_folder("kept", 0700);
    make_folder("xylem-pmix-dead", 0700);
    assert_int_equal(symlink("../kept", "xylem-pmix-dead/link"), 0);
    assert_int_equal(symlink("kept", "xylem-pmix-dead-link"), 0);
    px_folder_sweep(px_folder_top(), is_gone);
    assert_false(is_there("xylem-pmix-dead"));
    assert_true(is_there("xylem-pmix-dead-link"));
    assert_true(is_there("kept/server/file"));
    assert_int_equal(unlink("xylem-pmix-dead-link"), 0);
    px_folder_remove("kept");
}

/* Files of that name that are no folder are not opened: a FIFO would wait for a
 * writer. */
static void sweep_leaves_what_is_no_folder(void **state)
{
    (void)state;
    make_file("xylem-pmix-dead-file");
    assert_int_equal(mkfifo("xylem-pmix-dead-fifo", 0600), 0);
    px_folder_sweep(px_folder_top(), is_gone);
    assert_int_equal(unlink("xylem-pmix-dead-file"), 0);
    assert_int_equal(unlink("xylem-pmix-dead-fifo"), 0);
}

/* If other users may write to a folder, they may have put anything there. */
static void sweep_leaves_what_others_may_write_to(void **state)
{
    (void)state;
    make_folder("xylem-pmix-dead-1", 0777);
    make_folder("xylem-pmix-dead-2", 0720);
    px_folder_sweep(px_folder_top(), is_gone);
    assert_true(is_there("xylem-pmix-dead-1/server/file"));
    assert_true(is_there("xylem-pmix-dead-2/server/file"));
    px_folder_remove("xylem-pmix-dead-1");
    px_folder_remove("xylem-pmix-dead-2");
}

static void sweep_leaves_those_of_other_users(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a folder to another user */
    make_folder("xylem-pmix-dead", 0700);
    assert_int_equal(chown("xylem-pmix-dead", 1, (gid_t)-1), 0);
    px_folder_sweep(px_folder_top(), is_gone);
    assert_true(is_there("xylem-pmix-dead/server/file"));
    px_folder_remove("xylem-pmix-dead");
}

static void sweep_of_nothing_is_no_error(void **state)
{
    (void)state;
    px_folder_sweep("/nonexistent/folder", is_gone);
    px_folder_sweep(px_folder_top(), is_gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_says_whose_it_is_and_is_new),
        cmocka_unit_test(folder_goes_with_all_that_is_in_it),
        cmocka_unit_test(sweep_takes_those_of_the_dead_alone),
        cmocka_unit_test(sweep_follows_no_link),
        cmocka_unit_test(sweep_leaves_what_is_no_folder),
        cmocka_unit_test(sweep_leaves_what_others_may_write_to),
        cmocka_unit_test(sweep_leaves_those_of_other_users),
        cmocka_unit_test(sweep_of_nothing_is_no_error),
    };
    char place[] = "/tmp/xylem-folder-XXXXXX";
    int rc;

    if (mkdtemp(place) == NULL || chdir(place) != 0 ||
        setenv("TMPDIR", place, 1) != 0)
        return 99;
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir("/") == 0 && rmdir(place) == 0 ? rc : 1;
}
