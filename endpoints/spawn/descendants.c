/* Killing all descendants: parent numbers of /proc, closed under "child of".
 *
 * /proc/PID/task/TID/children would need a walk over the threads of every
 * process and may skip entries while siblings exit, so the parent number of
 * every process is read instead.
 */
#include "config.h"

#include "endpoints/spawn/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "overlay/base/err.h"

struct row {
    pid_t pid;
    pid_t parent;
    bool is_zombie;
    bool is_below; /* known to be a descendant */
};

struct rows {
    struct row *at; /* owned */
    size_t count;
    size_t room;
};

/* Reads one /proc/PID/stat. False when the process has gone. */
static bool row_read(int proc_fd, const char *name, struct row *out)
{
    char path[32];
    char text[512];
    char state;
    int parent;
    int fd;
    ssize_t got;
    const char *after;

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
    /* The name between the parentheses may hold anything, also ")". */
    after = strrchr(text, ')');
    if (after == NULL || sscanf(after + 1, " %c %d", &state, &parent) != 2)
        return false;
    *out = (struct row){
        .pid = (pid_t)strtol(name, NULL, 10),
        .parent = parent,
        .is_zombie = state == 'Z' || state == 'X',
    };
    return true;
}

static int rows_push(struct rows *rows, const struct row *row)
{
    if (rows->count == rows->room) {
        size_t room = rows->room > 0 ? rows->room * 2 : 256;
        struct row *at = realloc(rows->at, room * sizeof(*at));

        if (at == NULL)
            return OV_ENOMEM;
        rows->at = at;
        rows->room = room;
    }
    rows->at[rows->count++] = *row;
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

static int rows_read(struct rows *rows)
{
    DIR *dir = proc_is_ours() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    int rc = 0;

    if (dir == NULL)
        return OV_ESYS;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        struct row row;

        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
            row_read(dirfd(dir), entry->d_name, &row))
            rc = rows_push(rows, &row);
    }
    closedir(dir);
    return rc;
}

static int row_order(const void *left, const void *right)
{
    pid_t a = ((const struct row *)left)->pid;
    pid_t b = ((const struct row *)right)->pid;

    return (a > b) - (a < b);
}

/* Marks the descendants of `top`; as many passes as they are deep, fewer
 * where children have higher numbers than their parents. */
static void rows_mark(struct rows *rows, pid_t top)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < rows->count; i++) {
            struct row *row = &rows->at[i];
            struct row key = {.pid = row->parent};
            const struct row *parent;

            if (row->is_below)
                continue;
            parent =
                bsearch(&key, rows->at, rows->count, sizeof(key), row_order);
            if (row->parent != top && (parent == NULL || !parent->is_below))
                continue;
            row->is_below = true;
            changed = true;
        }
    }
}

int ep_descendants_kill(struct ep_descendants *out)
{
    struct rows rows = {0};
    int rc;

    *out = (struct ep_descendants){0};
    rc = rows_read(&rows);
    if (rc == 0) {
        qsort(rows.at, rows.count, sizeof(*rows.at), row_order);
        rows_mark(&rows, getpid());
    }
    for (size_t i = 0; rc == 0 && i < rows.count; i++) {
        const struct row *row = &rows.at[i];

        if (!row->is_below || row->is_zombie)
            continue;
        if (kill(row->pid, SIGKILL) == 0)
            out->alive++;
        else if (errno == EPERM)
            out->denied++;
    }
    free(rows.at);
    return rc;
}
