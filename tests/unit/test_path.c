/* Files of every kind, made in a folder of this test. */
#include "endpoints/sys/path.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

/* Opens the other end of the FIFO in a child, which waits until our end is
 * opened. */
static pid_t open_other_end(int flags)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(open("fifo", flags) < 0);
    return pid;
}

static void check_child(pid_t pid)
{
    int status = -1;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void what_cannot_be_read_is_refused_in_words(void **state)
{
    char why[EP_WHY_MAX] = "";
    int fd = -1;

    (void)state;
    assert_int_equal(ep_path_look("--x", "folder", why), OV_EINVAL);
    assert_string_equal(why, "--x: 'folder': it is a directory");
    assert_int_equal(ep_path_read("--x", "socket", &fd, why), OV_EINVAL);
    assert_string_equal(why, "--x: 'socket': it is a socket, which cannot be "
                             "opened");
    assert_int_equal(ep_path_read("--x", "none/there", &fd, why), OV_ESYS);
    assert_string_equal(why, "--x: 'none/there': No such file or directory");
    assert_int_equal(fd, -1);
}

/* The caller, who opens the file, reports what is missing. */
static void look_leaves_the_rest_to_its_caller(void **state)
{
    char why[EP_WHY_MAX] = "";

    (void)state;
    assert_int_equal(ep_path_look("--x", "none/there", why), 0);
    assert_int_equal(ep_path_look("--x", "file", why), 0);
    assert_int_equal(ep_path_look("--x", "fifo", why), 0);
    assert_int_equal(ep_path_look("--x", "/dev/full", why), 0);
    assert_string_equal(why, "");
}

static void file_device_and_fifo_are_read(void **state)
{
    static const char *const paths[] = {"file", "/dev/null", "fifo"};
    char why[EP_WHY_MAX] = "", byte;
    pid_t writer = open_other_end(O_WRONLY);

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int fd = -1;

        assert_int_equal(ep_path_read("--x", paths[i], &fd, why), 0);
        assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
        assert_int_equal(read(fd, &byte, 1), 0);
        close(fd);
    }
    check_child(writer);
}

static void what_cannot_be_written_is_refused_in_words(void **state)
{
    char why[EP_WHY_MAX] = "";
    int fd = 0;

    (void)state;
    assert_int_equal(ep_path_write("--x", "folder", &fd, why), OV_EINVAL);
    assert_string_equal(why, "--x: 'folder': it is a directory");
    assert_int_equal(ep_path_write("--x", "socket", &fd, why), OV_EINVAL);
    assert_int_equal(fd, -1);
}

static void file_is_left_to_its_writer(void **state)
{
    char why[EP_WHY_MAX] = "";
    int fd = 0;

    (void)state;
    assert_int_equal(ep_path_write("--x", "file", &fd, why), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(ep_path_write("--x", "none/there", &fd, why), 0);
    assert_int_equal(fd, -1);
}

/* The reader may come later; whichever end is first waits for the other. */
static void device_and_fifo_with_a_reader_are_written(void **state)
{
    static const char *const paths[] = {"/dev/null", "fifo"};
    char why[EP_WHY_MAX] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        pid_t reader = i == 1 ? open_other_end(O_RDONLY) : 0;
        int fd = -1;

        assert_int_equal(ep_path_write("--x", paths[i], &fd, why), 0);
        assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
        close(fd);
        if (reader != 0)
            check_child(reader);
    }
}

static void fifo_that_nobody_reads_is_given_up(void **state)
{
    char why[EP_WHY_MAX] = "";
    int fd = 0;

    (void)state;
    assert_int_equal(ep_path_write("--x", "fifo", &fd, why), OV_EINVAL);
    assert_non_null(strstr(why, "--x: 'fifo': nobody opened it"));
    assert_int_equal(fd, -1);
}

static int make_all(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int fd = open("file", O_WRONLY | O_CREAT, 0600);

    (void)state;
    if (fd < 0 || close(fd) != 0 || mkdir("folder", 0700) != 0 ||
        mkfifo("fifo", 0600) != 0 || listener < 0 ||
        bind(listener, (struct sockaddr *)&name, sizeof(name)) != 0)
        return -1;
    return close(listener);
}

static int remove_all(void **state)
{
    (void)state;
    return unlink("file") + rmdir("folder") + unlink("fifo") + unlink("socket");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_refused_in_words),
        cmocka_unit_test(look_leaves_the_rest_to_its_caller),
        cmocka_unit_test(file_device_and_fifo_are_read),
        cmocka_unit_test(what_cannot_be_written_is_refused_in_words),
        cmocka_unit_test(file_is_left_to_its_writer),
        cmocka_unit_test(device_and_fifo_with_a_reader_are_written),
        cmocka_unit_test(fifo_that_nobody_reads_is_given_up),
    };
    char place[] = "/tmp/xylem-path-XXXXXX";
    int rc;

    if (mkdtemp(place) == NULL || chdir(place) != 0)
        return 99;
    rc = cmocka_run_group_tests(tests, make_all, remove_all);
    return chdir("/") == 0 && rmdir(place) == 0 ? rc : 1;
}
