/* The rig for tests of the spawner. */
#include "config.h"

#include "tests/unit/spawn_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

static const char *const rig_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                      "LC_ALL=C", "PWD=/elsewhere",
                                      "COLOUR=red", NULL};

static struct rig_proc *proc_at(struct rig *rig, uint32_t proc)
{
    assert_true(proc < RIG_PROCS_MAX);
    return &rig->procs[proc];
}

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    struct rig *rig = arg;

    assert_true(pid > 0);
    proc_at(rig, proc)->pid = pid;
    rig->started++;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    struct rig *rig = arg;

    assert_int_equal(proc_at(rig, proc)->pid, 0);
    proc_at(rig, proc)->step = step;
    proc_at(rig, proc)->err = err;
    rig->failed++;
}

/* Checks the order of reports in every test: started first, one exit, nothing
 * after failed. */
static void on_exit_seen(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    struct rig *rig = arg;

    assert_true(proc_at(rig, proc)->pid > 0);
    assert_false(proc_at(rig, proc)->has_exited);
    proc_at(rig, proc)->has_exited = true;
    proc_at(rig, proc)->status = status;
    proc_at(rig, proc)->at_ns = at_ns;
    rig->exited++;
}

static void on_ended(void *arg)
{
    ((struct rig *)arg)->ended++;
}

static void on_lost(void *arg)
{
    ((struct rig *)arg)->lost++;
}

static void on_elsewhere(void *arg, uint32_t proc, int err)
{
    struct rig *rig = arg;

    /* the process was not started yet */
    assert_int_equal(rig->procs[proc].pid, 0);
    rig->elsewhere++;
    rig->elsewhere_err = err;
}

static const struct ep_spawner_events rig_events = {
    .on_elsewhere = on_elsewhere,
    .on_started = on_started,
    .on_failed = on_failed,
    .on_exit = on_exit_seen,
    .on_ended = on_ended,
    .on_lost = on_lost,
};

void rig_reopen(struct rig *rig, unsigned grace_ms)
{
    ep_spawner_close(rig->sp);
    rig->sp = NULL;
    assert_int_equal(ep_spawner_open(grace_ms, &rig->sp), 0);
    assert_int_equal(ep_spawner_attach(rig->sp, rig->base, &rig_events, rig),
                     0);
}

int rig_setup(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    const char *tmp = getenv("TMPDIR");

    assert_non_null(rig);
    snprintf(rig->folder, sizeof(rig->folder), "%s/xylem-test-XXXXXX",
             tmp != NULL && strlen(tmp) < sizeof(rig->folder) / 2 ? tmp
                                                                  : "/tmp");
    assert_non_null(mkdtemp(rig->folder));
    rig->base = event_base_new();
    assert_non_null(rig->base);
    *state = rig;
    rig_reopen(rig, 0);
    return 0;
}

int rig_teardown(void **state)
{
    struct rig *rig = *state;
    DIR *dir = opendir(rig->folder);
    const struct dirent *entry;

    ep_spawner_close(rig->sp);
    event_base_free(rig->base);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(rig->folder);
    free(rig);
    return 0;
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    *(bool *)arg = true;
}

void rig_wait(struct rig *rig, const unsigned *count, unsigned wanted)
{
    static const struct timeval minute = {.tv_sec = 60};
    bool is_late = false;
    struct event *limit = evtimer_new(rig->base, too_late, &is_late);

    event_add(limit, &minute);
    while (*count < wanted && !is_late)
        event_base_loop(rig->base, EVLOOP_ONCE);
    event_free(limit);
    assert_int_equal(*count, wanted);
}

void rig_job(struct rig *rig, const char *const *argv)
{
    struct ep_spawn_job job = {.program.argv = argv, .env = rig_env};

    assert_int_equal(ep_spawner_job(rig->sp, 1, &job), 0);
}

void rig_shell(struct rig *rig, const char *command)
{
    rig_job(rig, (const char *const[]){"sh", "-c", command, NULL});
}

void rig_start(struct rig *rig, uint32_t proc, int out_fd)
{
    struct ep_spawn_proc what = {
        .job = 1, .proc = proc, .stdio = {-1, out_fd, 2}};

    assert_int_equal(ep_spawner_start(rig->sp, &what), 0);
}

const char *rig_read_all(int fd)
{
    static char text[65536];
    size_t len = 0;
    ssize_t got;

    while ((got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)got;
    assert_int_equal(got, 0);
    text[len] = '\0';
    close(fd);
    return text;
}

const char *rig_capture(struct rig *rig)
{
    int fds[2];
    const char *text;
    unsigned wanted = rig->exited + 1;

    memset(&rig->procs[0], 0, sizeof(rig->procs[0]));
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    rig_start(rig, 0, fds[1]);
    close(fds[1]);
    rig_wait(rig, &rig->exited, wanted);
    text = rig_read_all(fds[0]);
    return text;
}

const char *rig_file(struct rig *rig, const char *name, const char *text,
                     unsigned mode)
{
    static char path[320];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

unsigned rig_fd_count(int64_t pid)
{
    char path[64];
    const struct dirent *entry;
    unsigned count = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += atoi(entry->d_name) < RIG_FD_END;
    closedir(dir);
    return count;
}
