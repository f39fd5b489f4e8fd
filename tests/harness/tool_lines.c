/* Write the lines of lines_text.h, in the ways that processes do.
 *
 *     tool_lines [options]
 *
 * --count N           lines (default 1000)
 * --seed S            (default 1)
 * --rank R            (default: XYLEM_RANK)
 * --fd N              where to (default 1)
 * --each              a write for every line; otherwise writes of 64 KiB
 *                     that end anywhere
 * --pause-at LIST     numbers of lines, rising: stop in the middle of each
 * --pause-ms MS       for this long (default 300)
 * --no-last-newline   the last line stays open
 * --close             then close the descriptor and live on until stdin ends
 * --die               then end by SIGKILL, with output still in the pipe
 */
#include "config.h"

#include "tests/harness/lines_text.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024 };

struct writer {
    int fd;
    bool each;
    size_t len;
    char block[BLOCK];
};

struct wishes {
    uint32_t count;
    uint32_t rank;
    uint64_t seed;
    const char *pause_at;
    int pause_ms;
    bool open_end;
    bool close;
    bool die;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "tool_lines: %s\n", what);
    exit(2);
}

static uint64_t number_get(const char *text, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno || value > max)
        fail("a number is wrong, see the head of tool_lines.c");
    return value;
}

static void flush(struct writer *out)
{
    size_t at = 0;

    while (at < out->len) {
        ssize_t put = write(out->fd, out->block + at, out->len - at);

        if (put < 0 && errno != EINTR)
            fail(strerror(errno));
        if (put > 0)
            at += (size_t)put;
    }
    out->len = 0;
}

static void put(struct writer *out, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t part = BLOCK - out->len;

        if (part > len)
            part = len;
        memcpy(out->block + out->len, bytes, part);
        out->len += part;
        bytes += part;
        len -= part;
        if (out->len == BLOCK)
            flush(out);
    }
}

/* True when the program must pause inside this line; removes the line's number
 * from the list. */
static bool is_pause(struct wishes *wish, uint32_t number)
{
    char *end;

    if (wish->pause_at == NULL || *wish->pause_at == '\0' ||
        strtoul(wish->pause_at, &end, 10) != number)
        return false;
    wish->pause_at = *end == ',' ? end + 1 : end;
    return true;
}

static void line_put(struct writer *out, struct wishes *wish, uint32_t number,
                     const char *line, size_t len)
{
    struct timespec pause = {.tv_sec = wish->pause_ms / 1000,
                             .tv_nsec = wish->pause_ms % 1000 * 1000000L};
    size_t first = 0;

    if (is_pause(wish, number)) {
        first = len / 2;
        put(out, line, first);
        flush(out);
        while (nanosleep(&pause, &pause) != 0) /* sleep-ok: the user has asked
                                                * for this pause */
            continue;
    }
    put(out, line + first, len - first);
    if (out->each)
        flush(out);
}

static void lines_put(struct writer *out, struct wishes *wish)
{
    static struct lines_text text;
    static char line[LINES_LEN_MAX];
    bool marked;

    lines_text_init(&text, wish->seed);
    for (uint32_t i = 0; i < wish->count; i++) {
        size_t len = lines_text_get(&text, wish->rank, i, line, &marked);

        if (i + 1 < wish->count || !wish->open_end)
            line[len++] = '\n';
        line_put(out, wish, i, line, len);
    }
    flush(out);
}

static void options_get(int argc, char **argv, struct wishes *wish,
                        struct writer *out)
{
    static const struct option known[] = {
        {"count", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"rank", required_argument, NULL, 'r'},
        {"fd", required_argument, NULL, 'f'},
        {"each", no_argument, NULL, 'e'},
        {"pause-at", required_argument, NULL, 'p'},
        {"pause-ms", required_argument, NULL, 'm'},
        {"no-last-newline", no_argument, NULL, 'l'},
        {"close", no_argument, NULL, 'c'},
        {"die", no_argument, NULL, 'd'},
        {0},
    };
    const char *rank = getenv("XYLEM_RANK");
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'n')
            wish->count = (uint32_t)number_get(optarg, UINT32_MAX);
        else if (option == 's')
            wish->seed = number_get(optarg, UINT64_MAX);
        else if (option == 'r')
            rank = optarg;
        else if (option == 'f')
            out->fd = (int)number_get(optarg, 1023);
        else if (option == 'e')
            out->each = true;
        else if (option == 'p')
            wish->pause_at = optarg;
        else if (option == 'm')
            wish->pause_ms = (int)number_get(optarg, 3600000);
        else if (option == 'l')
            wish->open_end = true;
        else if (option == 'c')
            wish->close = true;
        else if (option == 'd')
            wish->die = true;
        else
            fail("see the head of tool_lines.c");
    }
    if (rank == NULL || optind < argc)
        fail("no rank (--rank or XYLEM_RANK), or an argument too many");
    wish->rank = (uint32_t)number_get(rank, LINES_RANK_MAX);
}

int main(int argc, char **argv)
{
    static struct writer out = {.fd = STDOUT_FILENO};
    struct wishes wish = {.count = 1000, .seed = 1, .pause_ms = 300};
    char rest[4096];

    options_get(argc, argv, &wish, &out);
    lines_put(&out, &wish);
    if (wish.die)
        raise(SIGKILL);
    if (wish.close) {
        close(out.fd);
        while (read(STDIN_FILENO, rest, sizeof rest) > 0)
            continue;
    }
    return 0;
}
