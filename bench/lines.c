/* Write lines as fast as a process can.
 *
 *     lines [-g GATE] BYTES LINE_LEN [RANK]
 *
 * Writes lines of LINE_LEN bytes, newline included, until at least BYTES bytes
 * are written, in writes of 64 KiB or the whole lines that fit. A line is
 * `RANK SEQUENCE` and dots. RANK is XYLEM_RANK's value unless given. With a
 * gate it waits there before the first byte.
 */
#include "bench/gate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024, DIGITS = 12, LEN_MIN = 24 };

static _Noreturn void usage(void)
{
    fputs("usage: lines [-g GATE] BYTES LINE_LEN [RANK]\n", stderr);
    exit(2);
}

static uint64_t number_get(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        usage();
    return value;
}

/* Add one to the decimal number whose last digit is at `last`. */
static void count_up(char *last)
{
    while (*last == '9')
        *last-- = '0';
    (*last)++;
}

static void block_init(char *block, size_t lines, size_t len, uint64_t rank)
{
    char head[32];
    int head_len = snprintf(head, sizeof head, "%6llu %0*u ",
                            (unsigned long long)rank, DIGITS, 0);

    for (size_t i = 0; i < lines; i++) {
        char *line = block + i * len;

        memset(line, '.', len);
        memcpy(line, head, (size_t)head_len);
        line[len - 1] = '\n';
    }
}

static void write_all(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(STDOUT_FILENO, bytes, len);

        if (put < 0) {
            if (errno == EINTR)
                continue;
            perror("lines: writing");
            exit(1);
        }
        bytes += put;
        len -= (size_t)put;
    }
}

int main(int argc, char **argv)
{
    static char block[BLOCK];
    char number[DIGITS];
    const char *gate = NULL;
    const char *rank_text = getenv("XYLEM_RANK");
    int option;

    while ((option = getopt(argc, argv, "+g:")) != -1) {
        if (option != 'g')
            usage();
        gate = optarg;
    }
    argc -= optind;
    argv += optind;
    if (argc < 2 || argc > 3)
        usage();
    uint64_t bytes = number_get(argv[0]);
    uint64_t len = number_get(argv[1]);
    uint64_t rank = number_get(argc == 3   ? argv[2]
                               : rank_text ? rank_text
                                           : "0");
    if (len < LEN_MIN || len > BLOCK || rank > 999999)
        usage();

    size_t lines = BLOCK / len;
    block_init(block, lines, len, rank);
    memset(number, '0', sizeof number);
    if (gate != NULL)
        gate_wait(gate);
    for (uint64_t left = bytes; left > 0;) {
        uint64_t wanted = (left + len - 1) / len;
        size_t now = wanted < lines ? (size_t)wanted : lines;

        for (size_t i = 0; i < now; i++) {
            memcpy(block + i * len + 7, number, DIGITS);
            count_up(number + DIGITS - 1);
        }
        write_all(block, now * len);
        left = left > now * len ? left - now * len : 0;
    }
    return 0;
}
