/* Processes by /proc, and killing some of them.
 *
 * /proc/PID/task/TID/children would need a walk over the threads of every
 * process and may skip entries while siblings exit, so the parent number of
 * every process is read instead.
 */
#include "config.h"

#include "endpoints/spawn/procs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "endpoints/sys/pid_stat.h"
#include "overlay/base/err.h"

/* The kernel's PF_EXITING: it closes its files, and starts nobody any more. */
enum { FLAG_EXITING = 4 };

/* Reads one PID/stat. False when the process has gone. */
static bool row_read(int proc_fd, const char *name, struct ep_procs_row *out)
{
    char path[32], text[512];
    struct ep_pid_stat stat;
    int fd;
    ssize_t got;

    if (snprintf(path, sizeof(path), "%s/stat", name) >= (int)sizeof(path))
        return false;
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    if (ep_pid_stat_parse(text, &stat) != 0)
        return false;
    *out = (struct ep_procs_row){
        .pid = (pid_t)strtol(name, NULL, 10),
        .parent = stat.parent,
        .start = stat.start,
        .is_zombie =
            ep_pid_stat_is_dead(&stat) || (stat.flags & FLAG_EXITING) != 0,
    };
    return true;
}

static int push_row(struct ep_procs *procs, const struct ep_procs_row *row)
{
    if (procs->count == procs->room) {
        size_t room = procs->room > 0 ? procs->room * 2 : 256;
        struct ep_procs_row *at =
            reallocarray(procs->at, room, sizeof(*procs->at));

        if (at == NULL)
            return OV_ENOMEM;
        procs->at = at;
        procs->room = room;
    }
    procs->at[procs->count++] = *row;
    return 0;
}

/* /proc may belong to another PID namespace: its numbers would then name
 * processes that are none of ours. */
static bool proc_is_ours(void)
{
    char text[16];
    ssize_t len = readlink("/proc/self", text, sizeof(text) - 1);

    if (len <= 0)
        return false;
    text[len] = '\0';
    return strtol(text, NULL, 10) == getpid();
}

static int row_order(const void *left, const void *right)
{
    pid_t a = ((const struct ep_procs_row *)left)->pid;
    pid_t b = ((const struct ep_procs_row *)right)->pid;

    return (a > b) - (a < b);
}

int ep_procs_read(struct ep_procs *procs)
{
    DIR *dir = proc_is_ours() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    int rc = 0;

    *procs = (struct ep_procs){0};
    if (dir == NULL)
        return OV_ESYS;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        struct ep_procs_row row;

        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
            row_read(dirfd(dir), entry->d_name, &row))
            rc = push_row(procs, &row);
    }
    closedir(dir);
    if (rc != 0)
        ep_procs_fini(procs);
    else
        qsort(procs->at, procs->count, sizeof(*procs->at), row_order);
    return rc;
}

void ep_procs_fini(struct ep_procs *procs)
{
    free(procs->at);
    *procs = (struct ep_procs){0};
}

struct ep_procs_row *ep_procs_find(const struct ep_procs *procs, pid_t pid)
{
    struct ep_procs_row key = {.pid = pid};

    return bsearch(&key, procs->at, procs->count, sizeof(key), row_order);
}

bool ep_procs_look(pid_t pid, struct ep_procs_row *row)
{
    char name[32];

    snprintf(name, sizeof(name), "/proc/%d", (int)pid);
    return row_read(AT_FDCWD, name, row);
}

/* Dooms the children of `top`, none where that is 0, and all that is below the
 * doomed. It takes as many passes as they are deep, fewer where children have
 * higher numbers than their parents. */
static void doom(struct ep_procs *procs, pid_t top)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < procs->count; i++) {
            struct ep_procs_row *row = &procs->at[i];
            const struct ep_procs_row *parent;

            if (row->is_doomed || row->is_spared || row->pid == top)
                continue;
            parent = ep_procs_find(procs, row->parent);
            if ((top == 0 || row->parent != top) &&
                (parent == NULL || !parent->is_doomed))
                continue;
            row->is_doomed = true;
            changed = true;
        }
    }
}

void ep_procs_doom_below(struct ep_procs *procs, pid_t top)
{
    doom(procs, top);
}

void ep_procs_doom_all_below(struct ep_procs *procs)
{
    doom(procs, 0);
}

/* Returns 0 or an errno. */
static int kill_row(const struct ep_procs_row *row)
{
    int rc = ENOSYS;
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    struct ep_procs_row now;
    int fd = (int)syscall(SYS_pidfd_open, row->pid, 0);

    if (fd >= 0) {
        rc = ESRCH;
        if (ep_procs_look(row->pid, &now) && now.start == row->start)
            rc = syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0
                     ? 0
                     : errno;
        close(fd);
        return rc;
    }
    rc = errno;
#endif
    if (rc == ESRCH)
        return rc;
    /* An old kernel, or no descriptor is left. */
    return kill(row->pid, SIGKILL) == 0 ? 0 : errno;
}

void ep_procs_kill(const struct ep_procs *procs, struct ep_procs_killed *out)
{
    *out = (struct ep_procs_killed){0};
    for (size_t i = 0; i < procs->count; i++) {
        const struct ep_procs_row *row = &procs->at[i];
        int rc;

        if (!row->is_doomed || row->is_zombie)
            continue;
        rc = kill_row(row);
        if (rc == 0)
            out->alive++;
        else if (rc == EPERM)
            out->denied++;
    }
}

int ep_procs_kill_below(pid_t top, struct ep_procs_killed *out)
{
    struct ep_procs procs;
    int rc = ep_procs_read(&procs);

    *out = (struct ep_procs_killed){0};
    if (rc != 0)
        return rc;
    ep_procs_doom_below(&procs, top);
    ep_procs_kill(&procs, out);
    ep_procs_fini(&procs);
    return 0;
}
