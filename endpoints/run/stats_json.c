/* Writes the report of --stats.
 *
 * It is written by Jansson, which is small and stable, keeps the order of
 * members, and is used by other resource managers and by PMIx itself.
 */
#include "config.h"

#include "endpoints/run/stats_json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "text/style.h"
#include "endpoints/sys/ready.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum {
    TEMP_TRIES = 100,
    /* a pipe accepts this much when it can be written to at all */
    PIECE_BYTES = 2048,
    READER_MS = 3000,
};

/* Times get nine digits, as more digits than were measured are hard to read. */
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

/* json_pack() owns the parts that it is given, even when it fails. */
static json_t *gap_object(const struct ep_proof_gap *gap)
{
    return json_pack(
        "{s:I, s:s, s:o, s:I, s:s}", "rank", as_int(gap->rank), "channel",
        text_channel_name(gap->channel), "expected_bytes",
        gap->is_end_known ? json_integer(as_int(gap->expected_bytes))
                          : json_null(),
        "delivered_bytes", as_int(gap->delivered_bytes), "reason",
        ep_proof_name((enum ep_proof_reason)gap->reason));
}

static json_t *gaps_list(const struct ep_proof_verdict *proof)
{
    const struct ep_proof_list *const lists[] = {&proof->gaps, &proof->lost};
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (size_t g = 0; list != NULL && g < lists[i]->count; g++) {
            if (json_array_append_new(list, gap_object(&lists[i]->at[g]))) {
                json_decref(list);
                return NULL;
            }
        }
    }
    return list;
}

static json_t *proof_object(const struct ep_proof_verdict *proof)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "channels",
                     as_int(proof->channels), "complete",
                     as_int(proof->counts[EP_PROOF_COMPLETE]), "given_up",
                     as_int(proof->counts[EP_PROOF_GIVEN_UP]), "bytes",
                     as_int(proof->bytes), "gaps", gaps_list(proof));
}

/* Adds the exit code and the signal of a status, one of which is null, or
 * both. */
static json_t *with_status(json_t *object, int status)
{
    const bool is_signal = status != 0 && WIFSIGNALED(status);
    const bool is_exit = status != 0 && !is_signal;

    if (object != NULL &&
        (json_object_set_new(object, "exit_code",
                             is_exit ? json_integer(WEXITSTATUS(status))
                                     : json_null()) ||
         json_object_set_new(object, "signal",
                             is_signal ? json_integer(WTERMSIG(status))
                                       : json_null()))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *firsts_list(const struct ep_stats *stats)
{
    json_t *list = json_array();

    for (uint32_t i = 0; list != NULL && i < stats->ends.firsts_count; i++) {
        const struct ep_stats_first *first = &stats->ends.firsts[i];
        json_t *object = json_pack("{s:I, s:s}", "rank", as_int(first->rank),
                                   "host", first->host);

        if (json_array_append_new(list, with_status(object, first->status))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Returns a line as a JSON string. A byte that is not valid UTF-8 cannot be in
 * JSON: then each byte that is not ASCII becomes a dot. */
static json_t *line_string(char *line)
{
    json_t *string = json_string(line);

    if (string != NULL)
        return string;
    for (char *at = line; *at != '\0'; at++) {
        if ((*at & 0x80) != 0)
            *at = '.';
    }
    return json_string(line);
}

static json_t *lines_list(const struct ep_stats *stats)
{
    json_t *list = json_array();

    for (uint32_t i = 0; list != NULL && i < stats->ends.lines_count; i++) {
        if (json_array_append_new(list, line_string(stats->ends.lines[i]))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *ends_list(const struct ep_stats *stats)
{
    json_t *list = json_array();

    for (uint32_t i = 0; list != NULL && i < stats->ends.count; i++) {
        const struct ep_stats_end *end = &stats->ends.at[i];
        json_t *object = json_pack("{s:s, s:I, s:s, s:s?}", "by", end->by,
                                   "count", as_int(end->count), "ranks",
                                   end->ranks, "hosts", end->hosts);

        if (json_array_append_new(list, with_status(object, end->status))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* What was left out for one reason, of all or of one rank. */
static json_t *left_object(const struct text_left *left)
{
    return json_pack("{s:I, s:I}", "lines", as_int(left->lines), "bytes",
                     as_int(left->bytes));
}

static json_t *reasons_object(const struct ep_left_sum *sum)
{
    json_t *object = json_object();

    for (unsigned i = 0; object != NULL && i < TEXT_LEFT_REASONS; i++) {
        if (json_object_set_new(object, ep_left_name((enum text_left_reason)i),
                                left_object(&sum->at[i]))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static bool add_rank(json_t *list, const struct run_left *left, uint32_t rank)
{
    const struct text_left *at = ep_left_of(left, rank);

    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++) {
        if (at[i].bytes > 0 &&
            json_array_append_new(
                list,
                json_pack("{s:I, s:s, s:I, s:I}", "rank", as_int(rank),
                          "reason", ep_left_name((enum text_left_reason)i),
                          "lines", as_int(at[i].lines), "bytes",
                          as_int(at[i].bytes))))
            return false;
    }
    return true;
}

static json_t *left_ranks(const struct run_left *left)
{
    json_t *list = json_array();

    for (uint32_t rank = 0; list != NULL && rank < ep_left_procs(left);
         rank++) {
        if (!add_rank(list, left, rank)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *left_out_object(const struct run_left *left)
{
    const struct ep_left_sum sum = ep_left_sum(left);

    return json_pack("{s:b, s:I, s:o, s:o}", "at_least", (int)sum.is_least,
                     "limited_lines", as_int(sum.limited_lines), "reasons",
                     reasons_object(&sum), "ranks", left_ranks(left));
}

/* json_pack() owns what lost_list() returns, even when it fails, and returns
 * NULL when any part is NULL. */
static json_t *report(const struct ep_stats *stats)
{
    // clang-format off
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:s?, s:f, s:f, s:I, s:I, s:I, s:I, s:i,"
        " s:{s:I, s:I, s:f}, s:{s:I, s:I, s:I, s:f, s:I}, s:o,"
        " s:{s:I, s:I},"
        " s:{s:I, s:f}, s:o, s:I, s:o, s:o, s:f, s:o, s:o}",
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
        "stddiag_bytes", as_int(stats->stddiag_bytes),
        "exit_code", stats->exit_code,
        "launcher",
            "rss_peak_bytes", as_int(stats->launcher.rss_peak_bytes),
            "rss_bound_bytes", as_int(stats->launcher.rss_bound_bytes),
            "cpu_s", stats->launcher.cpu_s,
        "daemons",
            "count", as_int(stats->daemons.count),
            "rss_peak_bytes_max", as_int(stats->daemons.rss_peak_bytes_max),
            "rss_bound_bytes", as_int(stats->daemons.rss_bound_bytes),
            "cpu_s_sum", stats->daemons.cpu_s_sum,
            "lines_in_pieces", as_int(stats->daemons.lines_in_pieces),
        "left_out", left_out_object(stats->left),
        "frames",
            "up", as_int(stats->frames.up),
            "down", as_int(stats->frames.down),
        "repairs",
            "count", as_int(stats->repairs.count),
            "longest_s", stats->repairs.longest_s,
        "lost_nodes", lost_list(stats),
        "refused_peers", as_int(stats->refused_peers),
        "proof", proof_object(stats->proof),
        "first_failures", firsts_list(stats),
        "first_failures_s", stats->ends.firsts_s,
        "last_lines", lines_list(stats),
        "ends", ends_list(stats));
    // clang-format on
}

static int fail(char *why, const char *what, const char *path)
{
    snprintf(why, EP_WHY_MAX, "cannot %s %.160s: %s", what, path,
             strerror(errno));
    return OV_ESYS;
}

/* Writes the text to fd, and closes fd in any case. wait_ms: how long to wait
 * for the reader of a pipe or terminal; -1: for ever. */
static int put_and_close(int fd, const char *text, int wait_ms)
{
    size_t left = strlen(text);
    int err = 0;

    while (left > 0 && err == 0) {
        ssize_t put;

        if (!ep_ready(fd, POLLOUT, wait_ms)) {
            err = errno;
            break;
        }
        put = write(fd, text, left < PIECE_BYTES ? left : PIECE_BYTES);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            err = errno;
        if (put > 0) {
            text += put;
            left -= (size_t)put;
        }
    }
    /* Some file systems report only on close that the disk is full. */
    if (close(fd) != 0 && err == 0 && errno != EINTR)
        err = errno;
    errno = err;
    return err == 0 ? 0 : OV_ESYS;
}

/* Opens a new file in the directory of `path`, and puts its name into `temp`.
 * This is not mkstemp(), which would ignore the umask. */
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
    if (put_and_close(fd, text, -1) != 0) {
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
    if (put_and_close(fd, text, -1) != 0)
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

/* --- descriptors */

/* Tells whether `st` is the file of this descriptor, whatever its name is. */
static bool is_file_of(const struct stat *st, int fd)
{
    struct stat own;

    return fstat(fd, &own) == 0 && own.st_dev == st->st_dev &&
           own.st_ino == st->st_ino;
}

/* Returns the descriptor that path names, or -1. */
static int named_fd(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    struct stat st;

    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t len = strlen(folders[i]);
        int fd, end = 0;

        if (strncmp(path, folders[i], len) == 0 && path[len] >= '0' &&
            sscanf(path + len, "%9d%n", &fd, &end) == 1 &&
            path[len + (size_t)end] == '\0')
            return fd;
    }
    if (stat(path, &st) != 0)
        return -1;
    if (is_file_of(&st, STDOUT_FILENO))
        return STDOUT_FILENO;
    return is_file_of(&st, STDERR_FILENO) ? STDERR_FILENO : -1;
}

int ep_stats_fd(const char *path, int *fd, char *why)
{
    int named = named_fd(path);
    int flags = named < 0 ? 0 : fcntl(named, F_GETFL);

    *fd = -1;
    if (named < 0)
        return 0;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
        snprintf(why, EP_WHY_MAX,
                 "cannot write the report to %.160s: descriptor %d is not "
                 "open for writing",
                 path, named);
        return OV_EINVAL;
    }
    *fd = fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return *fd < 0 ? fail(why, "keep the descriptor", path) : 0;
}

/* --- the report */

/* Returns the report as text that ends in a newline; the caller frees it. NULL
 * when memory is out. */
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

/* Makes the text of the report, which the caller frees. Returns 0 or an error,
 * with a sentence in why. */
static int make_text(const struct ep_stats *stats, char **text, char *why)
{
    if (!isfinite(stats->wall_s) || !isfinite(stats->launch_s) ||
        !isfinite(stats->launcher.cpu_s) ||
        !isfinite(stats->daemons.cpu_s_sum)) {
        snprintf(why, EP_WHY_MAX, "a time in the report is not a number");
        return OV_EINVAL;
    }
    *text = report_text(stats);
    if (*text != NULL)
        return 0;
    snprintf(why, EP_WHY_MAX, "no memory for the report");
    return OV_ENOMEM;
}

int ep_stats_write(const char *path, const struct ep_stats *stats, char *why)
{
    char *text;
    int rc = make_text(stats, &text, why);

    if (rc != 0)
        return rc;
    rc = write_text(path, text, why);
    free(text);
    return rc;
}

int ep_stats_write_fd(int fd, const struct ep_stats *stats, char *why)
{
    char *text;
    int rc = make_text(stats, &text, why);

    if (rc != 0) {
        close(fd);
        return rc;
    }
    rc = put_and_close(fd, text, READER_MS);
    if (rc != 0)
        snprintf(why, EP_WHY_MAX, "cannot write the report: %s",
                 errno == ETIMEDOUT ? "nobody reads it" : strerror(errno));
    free(text);
    return rc;
}
