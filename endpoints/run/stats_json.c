/* The report of --stats.
 *
 * Jansson writes it: small, stable, keeps the order of members, and the
 * library that other resource managers and PMIx itself use.
 */
#include "config.h"

#include "endpoints/run/stats_json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { TEMP_TRIES = 100 };

/* Times with more digits than they deserve are hard to read. */
#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(9))

static json_int_t as_int(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static json_t *lost_list(const struct ep_stats *stats)
{
    json_t *list = json_array();

    for (size_t i = 0; list != NULL && i < stats->lost_count; i++) {
        if (json_array_append_new(list, json_integer(stats->lost_nodes[i]))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* json_pack takes over lost_list(), also when it fails, and gives NULL when
 * any part of it is missing. */
static json_t *report(const struct ep_stats *stats)
{
    // clang-format off
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:s?, s:f, s:f, s:I, s:I, s:I, s:i,"
        " s:{s:I, s:f}, s:{s:I, s:I, s:f}, s:{s:I, s:I}, s:o, s:I}",
        "nodes", as_int(stats->nodes),
        "procs", as_int(stats->procs),
        "arity", as_int(stats->arity),
        "depth", as_int(stats->depth),
        "provider", stats->provider,
        "wall_s", stats->wall_s,
        "launch_s", stats->launch_s,
        "stdin_bytes", as_int(stats->stdin_bytes),
        "stdout_bytes", as_int(stats->stdout_bytes),
        "stderr_bytes", as_int(stats->stderr_bytes),
        "exit_code", stats->exit_code,
        "launcher",
            "rss_peak_bytes", as_int(stats->launcher.rss_peak_bytes),
            "cpu_s", stats->launcher.cpu_s,
        "daemons",
            "count", as_int(stats->daemons.count),
            "rss_peak_bytes_max", as_int(stats->daemons.rss_peak_bytes_max),
            "cpu_s_sum", stats->daemons.cpu_s_sum,
        "frames",
            "up", as_int(stats->frames.up),
            "down", as_int(stats->frames.down),
        "lost_nodes", lost_list(stats),
        "refused_peers", as_int(stats->refused_peers));
    // clang-format on
}

static int fail(char *why, const char *what, const char *path)
{
    snprintf(why, EP_WHY_MAX, "cannot %s %.160s: %s", what, path,
             strerror(errno));
    return OV_ESYS;
}

/* Writes the text to fd and closes it, whatever happens. */
static int put_and_close(int fd, const char *text)
{
    size_t left = strlen(text);
    int err = 0;

    while (left > 0 && err == 0) {
        ssize_t put = write(fd, text, left);

        if (put < 0 && errno != EINTR)
            err = errno;
        if (put > 0) {
            text += put;
            left -= (size_t)put;
        }
    }
    /* Some file systems report a full disk at the close only. */
    if (close(fd) != 0 && err == 0 && errno != EINTR)
        err = errno;
    errno = err;
    return err == 0 ? 0 : OV_ESYS;
}

/* Opens a new file beside path; its name goes to temp. Not mkstemp, which
 * would ignore the umask. */
static int open_temp(const char *path, char *temp, size_t temp_bytes)
{
    for (unsigned i = 0; i < TEMP_TRIES; i++) {
        int len =
            snprintf(temp, temp_bytes, "%s.%ld.%u", path, (long)getpid(), i);
        int fd;

        if (len < 0 || (size_t)len >= temp_bytes) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int replace(const char *path, const char *text, char *why)
{
    char temp[PATH_MAX];
    int fd = open_temp(path, temp, sizeof(temp));

    if (fd < 0)
        return fail(why, "create a file beside", path);
    if (put_and_close(fd, text) != 0) {
        fail(why, "write the report to", temp);
        goto undo;
    }
    if (rename(temp, path) != 0) {
        fail(why, "rename the finished report to", path);
        goto undo;
    }
    return 0;

undo:
    unlink(temp);
    return OV_ESYS;
}

static int write_in_place(const char *path, const char *text, char *why)
{
    int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        return fail(why, "open the report file", path);
    if (put_and_close(fd, text) != 0)
        return fail(why, "write the report to", path);
    return 0;
}

static int write_text(const char *path, const char *text, char *why)
{
    char *real;
    struct stat st;
    int rc;

    if (stat(path, &st) != 0) {
        if (errno != ENOENT)
            return fail(why, "write the report to", path);
        return replace(path, text, why);
    }
    if (!S_ISREG(st.st_mode))
        return write_in_place(path, text, why);
    real = realpath(path, NULL);
    if (real == NULL)
        return fail(why, "find the report file", path);
    rc = replace(real, text, why);
    free(real);
    return rc;
}

/* The report as text that ends in a newline, for free(); or NULL. */
static char *report_text(const struct ep_stats *stats)
{
    json_t *json = report(stats);
    char *text = json == NULL ? NULL : json_dumps(json, DUMP_FLAGS);
    size_t len = text == NULL ? 0 : strlen(text);
    char *more = text == NULL ? NULL : realloc(text, len + 2);

    json_decref(json);
    if (more == NULL) {
        free(text);
        return NULL;
    }
    memcpy(more + len, "\n", 2);
    return more;
}

int ep_stats_write(const char *path, const struct ep_stats *stats, char *why)
{
    char *text;
    int rc;

    if (!isfinite(stats->wall_s) || !isfinite(stats->launch_s) ||
        !isfinite(stats->launcher.cpu_s) ||
        !isfinite(stats->daemons.cpu_s_sum)) {
        snprintf(why, EP_WHY_MAX, "a time in the report is not a number");
        return OV_EINVAL;
    }
    text = report_text(stats);
    if (text == NULL) {
        snprintf(why, EP_WHY_MAX, "no memory for the report");
        return OV_ENOMEM;
    }
    rc = write_text(path, text, why);
    free(text);
    return rc;
}
