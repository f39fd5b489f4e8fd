/* Finds the processes that were left behind, by their marks and their
 * parents. */
#include "config.h"

#include "endpoints/spawn/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "endpoints/sys/clock.h"
#include "endpoints/sys/fds.h"
#include "overlay/base/err.h"

enum {
    ROUND_MS_MIN = 2, /* first time between two searches; doubles */
    ROUND_MS_MAX = 100,
    FORKED_MS = 5000, /* a process of ep_leftover_fork runs at most this long */
    FORKED_NICE = 10, /* nice value of that process: others go first */
    /* time before its search, so that one search serves several requests */
    GATHER_MS = 250
};

/* True when the daemon of the mark runs. Another process may have its number by
 * now. When a process of that number cannot be read about, it counts as the
 * daemon. */
static bool is_running(const struct ep_mark *mark)
{
    struct ep_process daemon;

    if (kill(mark->pid, 0) != 0 && errno == ESRCH)
        return false;
    return ep_process_look(mark->pid, &daemon) != 0 ||
           (daemon.start == mark->start && !daemon.is_zombie);
}

static bool is_left(const struct ep_procs_row *row,
                    const struct ep_leftover *what, uint64_t here)
{
    struct ep_mark mark;

    if (row->it.is_zombie || row->it.pid == getpid() ||
        ep_mark_find(row->it.pid, &mark) != 0)
        return false;
    if (what->of != NULL
            ? mark.session != what->of->session || mark.node != what->of->node
            : mark.place != here || is_running(&mark))
        return false;
    return ep_mark_is_on(&mark, row->it.pid, row->it.start);
}

/* True when any process has the mark of a dead daemon. Usually none has, and
 * then the rest of /proc need not be read. Daemons in containers have other
 * numbers here, so nothing is known about them. */
static bool is_any_left(uint64_t here)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    bool is_found = false;

    while (dir != NULL && !is_found && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        struct ep_mark mark;

        is_found = pid > 0 && ep_mark_find(pid, &mark) == 0 &&
                   mark.place == here && !is_running(&mark);
    }
    if (dir != NULL)
        closedir(dir);
    return is_found;
}

/* Dooms the processes below the caller. Spares the child what->spare, and
 * children older than the daemon: these belong to the program that this process
 * was before exec. */
static void doom_own(struct ep_procs *procs, const struct ep_leftover *what)
{
    for (size_t i = 0; i < procs->count; i++) {
        struct ep_procs_row *row = &procs->at[i];

        if (row->it.parent == getpid() &&
            (row->it.pid == what->spare || row->it.start < what->of->start))
            row->is_spared = true;
    }
    ep_procs_doom_below(procs, getpid());
}

int ep_leftover_kill(const struct ep_leftover *what,
                     struct ep_procs_killed *out)
{
    uint64_t here = ep_mark_place();
    struct ep_procs procs;
    int rc;

    *out = (struct ep_procs_killed){0};
    if (what->of == NULL && !is_any_left(here))
        return 0;
    rc = ep_procs_read(&procs);
    if (rc != 0)
        return rc;
    if (what->is_below)
        doom_own(&procs, what);
    for (size_t i = 0; i < procs.count; i++) {
        struct ep_procs_row *row = &procs.at[i];

        if (!row->is_doomed && is_left(row, what, here))
            row->is_doomed = true;
    }
    ep_procs_doom_all_below(&procs);
    ep_procs_kill(&procs, out);
    ep_procs_fini(&procs);
    return 0;
}

int ep_leftover_end(const struct ep_leftover *what, unsigned limit_ms)
{
    int64_t end_ms = ep_clock_ms() + limit_ms;
    int round_ms = ROUND_MS_MIN, found = 0, quiet = 0;

    while (quiet < 2 && ep_clock_ms() < end_ms) {
        struct ep_procs_killed killed;
        int rc = ep_leftover_kill(what, &killed);

        if (rc != 0)
            return rc;
        quiet = killed.alive > 0 ? 0 : quiet + 1;
        if (found == 0 && quiet > 0)
            /* No process is left that could have children meanwhile. */
            return 0;
        found += (int)killed.alive;
        poll(NULL, 0, round_ms);
        round_ms = 2 * round_ms > ROUND_MS_MAX ? ROUND_MS_MAX : 2 * round_ms;
    }
    return found;
}

/* Waits until the process has ended: its descriptors are closed before that. */
static void await_end(pid_t owner)
{
    int64_t end_ms = ep_clock_ms() + FORKED_MS;
    struct ep_process it;
    uint64_t start = 0;

    while (ep_clock_ms() < end_ms && ep_process_look(owner, &it) == 0 &&
           !it.is_zombie && (start == 0 || it.start == start)) {
        start = it.start;
        poll(NULL, 0, ROUND_MS_MIN);
    }
}

/* Binds a socket that only one process of its user and PID namespace can have;
 * that process does the search. The socket's name is not a file, so no file is
 * left behind. Returns -1 when another process has the socket. */
static int take_turn(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct stat space;

    if (fd < 0 || stat("/proc/self/ns/pid", &space) != 0)
        return fd;
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "xylem-sweep-%u-%ju",
             geteuid(), (uintmax_t)space.st_ino);
    if (bind(fd, (const struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Forks a child of our parent. Uses the kernel's own call, because fork()
 * cannot do that. */
static pid_t fork_beside(void)
{
#if defined(__s390__)
    return (pid_t)syscall(SYS_clone, 0, CLONE_PARENT | SIGCHLD, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
#endif
}

pid_t ep_leftover_fork(pid_t owner)
{
    static const struct ep_leftover what = {.of = NULL};
    int turn = owner == 0 ? take_turn() : -1;
    pid_t pid;

    if (owner == 0 && turn < 0)
        return 0;
    pid = fork_beside();
    if (pid != 0) {
        if (turn >= 0)
            close(turn);
        return pid;
    }
    if (turn >= 0)
        dup2(turn, 0);
    ep_fds_close_from(turn >= 0);
    prctl(PR_SET_NAME, "xylem-sweep");
    if (owner > 0) {
        await_end(owner);
    } else {
        setpriority(PRIO_PROCESS, 0, FORKED_NICE);
        poll(NULL, 0, GATHER_MS);
    }
    ep_leftover_end(&what, FORKED_MS);
    _exit(0);
}
