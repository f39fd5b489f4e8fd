/* Finds processes in /proc, and kills some of them.
 *
 * /proc/PID/task/TID/children would need a walk over the threads of every
 * process and may skip entries while siblings exit, so the parent number of
 * every process is read instead.
 */
#include "config.h"

#include "endpoints/spawn/procs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { ROOM_MORE = 256 };

static int row_order(const void *left, const void *right)
{
    pid_t a = ((const struct ep_procs_row *)left)->it.pid;
    pid_t b = ((const struct ep_procs_row *)right)->it.pid;

    return (a > b) - (a < b);
}

struct ep_procs_row *ep_procs_find(const struct ep_procs *procs, pid_t pid)
{
    struct ep_procs_row key = {.it.pid = pid};

    return procs->count == 0
               ? NULL
               : bsearch(&key, procs->at, procs->count, sizeof(key), row_order);
}

static int push_row(struct ep_procs *procs, const struct ep_procs_row *row)
{
    if (procs->count == procs->room) {
        size_t room = procs->room * 2;
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

/* Adds a process, which may have ended meanwhile. The clock is read first: what
 * the process does after that is seen when the clock is read again. */
static int push_pid(struct ep_procs *procs, const struct ep_procs *before,
                    pid_t pid)
{
    const struct ep_procs_row *was = ep_procs_find(before, pid);
    struct ep_procs_row row = {.ran_ns = ep_process_ran_ns(pid)};

    row.is_anew =
        was == NULL || row.ran_ns == UINT64_MAX || row.ran_ns != was->ran_ns;
    if (!row.is_anew)
        row.it = was->it;
    else if (ep_process_look(pid, &row.it) != 0)
        return 0;
    if (was != NULL && was->it.start == row.it.start) {
        row.is_counted = was->is_counted;
        row.moved_bytes = was->moved_bytes;
    }
    return push_row(procs, &row);
}

/* There is room for as many as before, and some more. */
static int read_all(struct ep_procs *procs, const struct ep_procs *before)
{
    const size_t room = before->count + ROOM_MORE;
    DIR *dir = ep_process_can_look() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    int rc = 0;

    *procs =
        (struct ep_procs){.at = calloc(room, sizeof(*procs->at)), .room = room};
    if (procs->at == NULL)
        rc = OV_ENOMEM;
    if (dir == NULL)
        rc = OV_ESYS;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 0)
            rc = push_pid(procs, before, pid);
    }
    if (dir != NULL)
        closedir(dir);
    if (rc != 0)
        ep_procs_fini(procs);
    else
        qsort(procs->at, procs->count, sizeof(*procs->at), row_order);
    return rc;
}

int ep_procs_read(struct ep_procs *procs)
{
    return read_all(procs, &(struct ep_procs){0});
}

int ep_procs_read_again(struct ep_procs *procs)
{
    struct ep_procs before = *procs;
    const int rc = read_all(procs, &before);

    ep_procs_fini(&before);
    return rc;
}

void ep_procs_fini(struct ep_procs *procs)
{
    free(procs->at);
    *procs = (struct ep_procs){0};
}

/* Dooms the children of `top` (0: of no process), and all descendants of doomed
 * processes. Needs one pass for each generation, fewer when children have
 * higher numbers than their parents. */
static void doom(struct ep_procs *procs, pid_t top)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < procs->count; i++) {
            struct ep_procs_row *row = &procs->at[i];
            const struct ep_procs_row *parent;

            if (row->is_doomed || row->is_spared || row->it.pid == top)
                continue;
            parent = ep_procs_find(procs, row->it.parent);
            if ((top == 0 || row->it.parent != top) &&
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

/* Kills one process. Returns 0 or an errno. */
static int kill_row(const struct ep_procs_row *row)
{
    int rc = ENOSYS;
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
    struct ep_process now;
    int fd = (int)syscall(SYS_pidfd_open, row->it.pid, 0);

    if (fd >= 0) {
        rc = ESRCH;
        if (ep_process_look(row->it.pid, &now) == 0 &&
            now.start == row->it.start)
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
    /* The kernel is old, or no descriptor is free. */
    return kill(row->it.pid, SIGKILL) == 0 ? 0 : errno;
}

void ep_procs_kill(const struct ep_procs *procs, struct ep_procs_killed *out)
{
    *out = (struct ep_procs_killed){0};
    for (size_t i = 0; i < procs->count; i++) {
        const struct ep_procs_row *row = &procs->at[i];
        int rc;

        if (!row->is_doomed || row->it.is_zombie)
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
