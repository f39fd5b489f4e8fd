/* The file by which a tool finds the server of the launcher that the tool has
 * started. */
#include "pmix_api/rendezvous.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LAUNCHERS = 4, ROUNDS = 200 };

/* Writes a file as libpmix does. */
static void write_file(const char *path, pid_t server)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "s.0;tcp4://127.0.0.1:1\n4.2.2\n%d\n", (int)server);
    assert_int_equal(fclose(file), 0);
}

/* Returns the number of a process that is dead. */
static pid_t find_dead(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* Launches a process. Its exit code is 0 when it has got the name, 1 when
 * another process has it. */
static pid_t launch(const int gate[2], const char *from)
{
    pid_t pid = fork();
    struct stat st;
    char byte;

    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    close(gate[1]);
    if (read(gate[0], &byte, 1) != 0)
        _exit(2);
    if (px_rendezvous_put(from, "name", &st) == 0)
        _exit(0);
    _exit(errno == EEXIST ? 1 : 3);
}

/* Returns how many of several processes that begin at once get the name. */
static int race(const char *from)
{
    pid_t pids[LAUNCHERS];
    int ends[2], status, winners = 0;

    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < LAUNCHERS; i++)
        pids[i] = launch(ends, from);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < LAUNCHERS; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        winners += WEXITSTATUS(status) == 0;
    }
    return winners;
}

/* Several processes find the file of a dead server: one of them replaces the
 * file, and no other removes the new one. */
static void one_takes_the_place_of_the_dead(void **state)
{
    (void)state;
    write_file("own", getpid());
    for (int i = 0; i < ROUNDS; i++) {
        write_file("name", find_dead());
        assert_int_equal(race("own"), 1);
        assert_int_equal(race("own"), 0);
        assert_int_equal(unlink("name"), 0);
    }
    assert_int_equal(unlink("own"), 0);
}

/* A user who has killed a launcher may start the next one before the first
 * one's end was waited for. */
static void a_zombie_is_dead(void **state)
{
    pid_t pid = fork();
    siginfo_t info;
    struct stat st;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    write_file("own", getpid());
    write_file("name", pid);
    assert_int_equal(px_rendezvous_put("own", "name", &st), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(unlink("name"), 0);
    assert_int_equal(unlink("own"), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_takes_the_place_of_the_dead),
        cmocka_unit_test(a_zombie_is_dead),
    };
    char place[] = "/tmp/xylem-rendezvous-XXXXXX";
    int failed;

    if (mkdtemp(place) == NULL || chdir(place) != 0)
        return 99;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (chdir("/") == 0)
        rmdir(place);
    return failed;
}
