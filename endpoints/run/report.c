/* The file of --report-uri, with the address of a dvm. */
#include "config.h"

#include "endpoints/run/report.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/run/run.h"
#include "endpoints/run/stats_json.h"
#include "endpoints/run/voice.h"
#include "endpoints/sys/why.h"

enum { PATH_BYTES_MAX = 4096, LINE_BYTES_MAX = 1024 };

struct run_report {
    const char *path;
    struct event_base *base; /* borrowed, once there is an address */
    struct run_voice *voice;
    int fd; /* owned: stdout and the like; -1: write to `path` */
    /* Owned: the file that this launcher has made at the path, and has locked;
     * -1: none. */
    int file;
    bool is_put;         /* written at least once; later writes may fail */
    bool is_missed;      /* a later write failed, and the user knows it */
    struct event *again; /* owned: a timer, while a pipe has no reader yet */
    char line[LINE_BYTES_MAX];
};

/* The kinds of files at the path. */
enum kind {
    KIND_ROOM,   /* nothing exists at the path, or an empty file */
    KIND_FORMER, /* a line that an earlier dvm has written */
    KIND_STREAM,
    KIND_OTHER, /* anything else; errno says why it cannot be used */
};

/* Tells whether the file is one line, written by a dvm that no longer runs. */
static bool is_former(const char *path)
{
    char line[LINE_BYTES_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_locked;
    ssize_t len;

    if (fd < 0)
        return false;
    is_locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    len = read(fd, line, LINE_BYTES_MAX);
    close(fd);
    if (is_locked || len <= 0)
        return false;
    line[len] = '\0';
    return strncmp(line, EP_RUN_DVM_NAME, strlen(EP_RUN_DVM_NAME)) == 0 &&
           strstr(line, ";tcp") != NULL && strchr(line, '\n') == line + len - 1;
}

static enum kind kind_of(const char *path)
{
    struct stat st;
    enum kind kind = KIND_OTHER;

    if (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return KIND_STREAM;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? KIND_ROOM : KIND_OTHER;
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        kind = KIND_ROOM;
    else if (S_ISREG(st.st_mode) && is_former(path))
        kind = KIND_FORMER;
    errno = EEXIST;
    return kind;
}

/* Returns a sentence for errno. */
static const char *explain(void)
{
    return errno == EEXIST ? "it exists already, was not written by a dvm, and "
                             "is not overwritten"
                           : strerror(errno);
}

static void refuse(struct run_report *report)
{
    ep_voice_say(report->voice, "--report-uri: cannot write '%.300s': %s",
                 report->path, explain());
}

/* Tells the user, once, that a later address could not be written. */
static void miss(struct run_report *report)
{
    const char *why = explain();

    if (report->is_missed)
        return;
    report->is_missed = true;
    ep_voice_say(report->voice,
                 "--report-uri: cannot write '%.300s' again: %s; the dvm goes "
                 "on, but the address in that file may be out of date",
                 report->path, why);
}

/* Tells whether the path can be used. Returns false with errno when not. */
static bool is_fit(const char *path, enum kind kind)
{
    char name[PATH_BYTES_MAX];

    if (kind == KIND_OTHER)
        return false;
    if (kind == KIND_STREAM)
        return access(path, W_OK) == 0;
    errno = ENAMETOOLONG;
    return snprintf(name, sizeof(name), "%s", path) < (int)sizeof(name) &&
           access(dirname(name), W_OK | X_OK) == 0;
}

/* Checks the path, and removes the file of an earlier dvm. Returns 0 or the
 * exit code. */
static int open_path(struct run_report *report)
{
    char why[EP_WHY_MAX];
    enum kind kind;

    if (ep_stats_fd(report->path, &report->fd, why) != 0) {
        ep_voice_say(report->voice, "--report-uri: %s", why);
        return 2;
    }
    if (report->fd >= 0)
        return 0;
    kind = kind_of(report->path);
    if (!is_fit(report->path, kind)) {
        refuse(report);
        return 2;
    }
    if (kind == KIND_FORMER)
        unlink(report->path);
    return 0;
}

int ep_run_report_open(const char *path, struct run_voice *voice,
                       struct run_report **out)
{
    struct run_report *report = calloc(1, sizeof(*report));
    int rc;

    if (report == NULL)
        return ep_voice_fail(voice, "out of memory");
    *report =
        (struct run_report){.path = path, .voice = voice, .fd = -1, .file = -1};
    rc = open_path(report);
    if (rc != 0)
        free(report);
    else
        *out = report;
    return rc;
}

static bool write_line(int fd, const char *line)
{
    size_t len = strlen(line);
    ssize_t done = write(fd, line, len);

    if (done >= 0 && (size_t)done < len)
        errno = ENOSPC;
    return done == (ssize_t)len;
}

static void let_go(struct run_report *report)
{
    if (report->file >= 0)
        close(report->file);
    report->file = -1;
}

/* Writes the file whole or not at all, because a program may wait for the file
 * and read it at once. */
static bool put_file(struct run_report *report, const char *path)
{
    char temporary[PATH_BYTES_MAX];
    int len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    int fd = -1, err;
    bool is_good;

    errno = ENAMETOOLONG;
    if (len < (int)sizeof(temporary))
        fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    is_good = write_line(fd, report->line) && fsync(fd) == 0 &&
              rename(temporary, path) == 0;
    err = errno;
    if (is_good) {
        let_go(report);
        report->file = fd;
    } else {
        unlink(temporary);
        close(fd);
    }
    errno = err;
    return is_good;
}

static void on_again(evutil_socket_t fd, short what, void *arg);

/* Writes the address to the pipe. When the pipe is full or has no reader yet,
 * tries again later. */
static bool put_stream(struct run_report *report)
{
    static const struct timeval soon = {.tv_usec = 100000};
    int fd = open(report->path,
                  O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND | O_CLOEXEC);
    bool is_good = fd >= 0 && write_line(fd, report->line);
    int err = errno;

    if (fd >= 0)
        close(fd);
    errno = err;
    if (is_good || (err != ENXIO && err != EAGAIN && err != EPIPE))
        return is_good;
    if (report->again == NULL)
        report->again = evtimer_new(report->base, on_again, report);
    return report->again != NULL && evtimer_add(report->again, &soon) == 0;
}

/* Writes the address to the path. A file that this launcher has made there is
 * replaced; when replacing it fails, the old file stays, and stays locked. */
static bool put_path(struct run_report *report)
{
    enum kind kind;
    bool is_good;
    int err;

    if (report->file >= 0)
        /* lets kind_of() see that the file may be replaced */
        (void)flock(report->file, LOCK_UN);
    kind = kind_of(report->path);
    if (kind == KIND_STREAM)
        return put_stream(report);
    is_good = kind != KIND_OTHER && put_file(report, report->path);
    err = errno;
    if (!is_good && report->file >= 0)
        (void)flock(report->file, LOCK_EX | LOCK_NB);
    errno = err;
    return is_good;
}

static bool put_address(struct run_report *report)
{
    if (report->again != NULL)
        evtimer_del(report->again);
    return report->fd >= 0 ? write_line(report->fd, report->line)
                           : put_path(report);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    if (!put_address(arg))
        miss(arg);
}

int ep_run_report_put(struct run_report *report, struct event_base *base,
                      const char *uri)
{
    int len = snprintf(report->line, sizeof(report->line), "%s\n", uri);

    report->base = base;
    errno = EMSGSIZE;
    if (len < (int)sizeof(report->line) && put_address(report))
        report->is_put = true;
    else if (report->is_put)
        miss(report);
    else
        refuse(report);
    return report->is_put ? 0 : -1;
}

void ep_run_report_close(struct run_report *report)
{
    struct stat own, st;

    if (report == NULL)
        return;
    if (report->again != NULL)
        event_free(report->again);
    if (report->fd >= 0)
        close(report->fd);
    if (report->file >= 0 && fstat(report->file, &own) == 0 &&
        lstat(report->path, &st) == 0 && st.st_dev == own.st_dev &&
        st.st_ino == own.st_ino)
        unlink(report->path);
    let_go(report);
    free(report);
}
