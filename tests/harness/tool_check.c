/* Read the merged output of tool_lines on many ranks and say whether every line
 * of every rank is there once, whole and in order.
 *
 *     tool_check --procs N [--first R] [--count N] [--seed S] [--label]
 *
 * The ranks are R (default 0) to R + N - 1, each with `--count` lines (default
 * 1000). With --label every line starts with `RANK: `. Without it a line too
 * short to be marked does not say whose it is: these are then compared as a
 * whole, by count and by a sum over their contents. The last line of the input
 * may lack its newline.
 *
 * Prints what is wrong, the first 20 of it, and exits 1; 0 when nothing is.
 */
#include "config.h"

#include "tests/harness/lines_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1024 * 1024, TOLD_MAX = 20, LABEL_MAX = 16 };

struct check {
    struct lines_text text;
    uint32_t first, procs, count;
    bool label;
    uint32_t *next; /* for each rank: the number of the next line */
    uint64_t line;  /* how many lines were read */
    uint64_t short_count, short_sum;
    uint64_t bad;
    char wanted[LINES_LEN_MAX];
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "tool_check: %s\n", what);
    exit(2);
}

__attribute__((format(printf, 2, 3))) static void tell(struct check *check,
                                                       const char *format, ...)
{
    va_list args;

    if (check->bad++ >= TOLD_MAX)
        return;
    printf("line %" PRIu64 ": ", check->line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* Returns the first bytes of a line in a printable form. */
static const char *quoted(const char *line, size_t len)
{
    static char text[4 * 60 + 4];
    size_t at = 0;

    for (size_t i = 0; i < len && i < 60; i++) {
        unsigned char byte = (unsigned char)line[i];

        if (byte >= ' ' && byte < 127 && byte != '\\')
            text[at++] = (char)byte;
        else
            at += (size_t)sprintf(text + at, "\\%03o", byte);
    }
    strcpy(text + at, len > 60 ? "..." : "");
    return text;
}

static bool is_known(const struct check *check, uint32_t rank)
{
    return rank >= check->first && rank - check->first < check->procs;
}

/* Compares the line with the line that is expected here. */
static bool is_line(struct check *check, uint32_t rank, uint32_t number,
                    const char *line, size_t len)
{
    bool marked;
    size_t wanted =
        lines_text_get(&check->text, rank, number, check->wanted, &marked);

    return wanted == len && memcmp(line, check->wanted, len) == 0;
}

static void tell_torn(struct check *check, uint32_t rank, uint32_t number,
                      const char *line, size_t len)
{
    bool marked;
    size_t wanted =
        lines_text_get(&check->text, rank, number, check->wanted, &marked);
    size_t same = 0;

    while (same < len && same < wanted && line[same] == check->wanted[same])
        same++;
    tell(check,
         "rank %u, line %u is wrong from byte %zu on (%zu bytes, %zu wanted): "
         "%s",
         rank, number, same, len, wanted, quoted(line + same, len - same));
}

/* Reports that this is not the next line of its rank. */
static void tell_wrong(struct check *check, uint32_t rank, const char *line,
                       size_t len)
{
    uint32_t *next = &check->next[rank - check->first];
    uint32_t said_rank, number;

    if (!lines_text_parse(line, len, &said_rank, &number) ||
        said_rank != rank || number >= check->count) {
        if (*next < check->count)
            tell_torn(check, rank, *next, line, len);
        else
            tell(check, "rank %u has a line too many: %s", rank,
                 quoted(line, len));
        *next += *next < check->count;
        return;
    }
    if (!is_line(check, rank, number, line, len))
        tell_torn(check, rank, number, line, len);
    else if (number < *next)
        tell(check, "rank %u: line %u comes again or late, %u was next", rank,
             number, *next);
    else
        tell(check, "rank %u: lines %u to %u are missing", rank, *next,
             number - 1);
    if (number >= *next)
        *next = number + 1;
}

static void line_labelled(struct check *check, const char *line, size_t len)
{
    uint32_t rank = 0;
    size_t at = 0;

    while (at < len && at < LABEL_MAX && line[at] >= '0' && line[at] <= '9')
        rank = rank * 10 + (uint32_t)(line[at++] - '0');
    if (at == 0 || len - at < 2 || line[at] != ':' || line[at + 1] != ' ' ||
        !is_known(check, rank)) {
        tell(check, "no label: %s", quoted(line, len));
        return;
    }
    line += at + 2;
    len -= at + 2;
    uint32_t *next = &check->next[rank - check->first];
    if (*next < check->count && is_line(check, rank, *next, line, len))
        (*next)++;
    else
        tell_wrong(check, rank, line, len);
}

/* Without labels: finds the next marked line of a rank. */
static void short_skip(struct check *check, uint32_t rank)
{
    uint32_t *next = &check->next[rank - check->first];
    bool marked;

    while (*next < check->count) {
        (void)lines_text_get(&check->text, rank, *next, check->wanted, &marked);
        if (marked)
            return;
        (*next)++;
    }
}

static void line_bare(struct check *check, const char *line, size_t len)
{
    uint32_t rank, number;

    if (!lines_text_parse(line, len, &rank, &number)) {
        check->short_count++;
        check->short_sum += lines_text_hash(line, len);
        return;
    }
    if (!is_known(check, rank)) {
        tell(check, "of no rank: %s", quoted(line, len));
        return;
    }
    short_skip(check, rank);
    if (number == check->next[rank - check->first] &&
        is_line(check, rank, number, line, len))
        check->next[rank - check->first]++;
    else
        tell_wrong(check, rank, line, len);
}

/* Checks a line, which comes without its newline. */
static void line_on(struct check *check, const char *line, size_t len)
{
    check->line++;
    if (check->label)
        line_labelled(check, line, len);
    else
        line_bare(check, line, len);
}

static void lines_read(struct check *check)
{
    static char block[BLOCK];
    size_t len = 0;
    ssize_t got;

    while ((got = read(STDIN_FILENO, block + len, BLOCK - len)) != 0) {
        char *line = block;
        char *end;

        if (got < 0)
            fail(strerror(errno));
        len += (size_t)got;
        while ((end = memchr(line, '\n', (size_t)(block + len - line)))) {
            line_on(check, line, (size_t)(end - line));
            line = end + 1;
        }
        len -= (size_t)(line - block);
        memmove(block, line, len);
        if (len == BLOCK) {
            tell(check, "a line of more than %d bytes", BLOCK);
            len = 0;
        }
    }
    if (len > 0)
        line_on(check, block, len);
}

/* Compares the short lines that came with those that should have come. */
static void short_compare(struct check *check)
{
    uint64_t count = 0, sum = 0;
    bool marked;

    for (uint32_t i = 0; i < check->procs; i++) {
        for (uint32_t number = 0; number < check->count; number++) {
            size_t len = lines_text_get(&check->text, check->first + i, number,
                                        check->wanted, &marked);
            if (marked)
                continue;
            count++;
            sum += lines_text_hash(check->wanted, len);
        }
    }
    if (count != check->short_count)
        tell(check, "%" PRIu64 " short lines, %" PRIu64 " wanted",
             check->short_count, count);
    else if (sum != check->short_sum)
        tell(check, "the short lines are not those that were written");
}

static void ends_check(struct check *check)
{
    for (uint32_t i = 0; i < check->procs; i++) {
        if (!check->label)
            short_skip(check, check->first + i);
        if (check->next[i] < check->count)
            tell(check, "rank %u: nothing from line %u on", check->first + i,
                 check->next[i]);
    }
    if (!check->label)
        short_compare(check);
}

static uint64_t number_get(const char *text, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno || value > max)
        fail("a number is wrong, see the head of tool_check.c");
    return value;
}

static uint64_t options_get(int argc, char **argv, struct check *check)
{
    static const struct option known[] = {
        {"procs", required_argument, NULL, 'p'},
        {"first", required_argument, NULL, 'f'},
        {"count", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"label", no_argument, NULL, 'l'},
        {0},
    };
    uint64_t seed = 1;
    int option;

    check->count = 1000;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'p')
            check->procs = (uint32_t)number_get(optarg, LINES_RANK_MAX);
        else if (option == 'f')
            check->first = (uint32_t)number_get(optarg, LINES_RANK_MAX);
        else if (option == 'n')
            check->count = (uint32_t)number_get(optarg, UINT32_MAX);
        else if (option == 's')
            seed = number_get(optarg, UINT64_MAX);
        else if (option == 'l')
            check->label = true;
        else
            fail("see the head of tool_check.c");
    }
    if (check->procs == 0 || optind < argc)
        fail("how many ranks? --procs N");
    return seed;
}

int main(int argc, char **argv)
{
    static struct check check;
    uint64_t seed = options_get(argc, argv, &check);

    check.next = calloc(check.procs, sizeof *check.next);
    if (check.next == NULL)
        fail("no memory");
    lines_text_init(&check.text, seed);
    lines_read(&check);
    ends_check(&check);
    if (check.bad > TOLD_MAX)
        printf("and %" PRIu64 " more\n", check.bad - TOLD_MAX);
    free(check.next);
    return check.bad > 0;
}
