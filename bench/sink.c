/* Read standard input to its end as fast as a process can.
 *
 *     sink [-g GATE] [BYTES]
 *
 * With BYTES the exit code is 1 unless exactly so many came. With a gate it
 * reports there before the first byte and again when BYTES bytes are here or
 * the input ends; it does not wait, as the start of the input is the start
 * line.
 */
#include "config.h"

#include "bench/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024 };

static _Noreturn void usage(void)
{
    fputs("usage: sink [-g GATE] [BYTES]\n", stderr);
    exit(2);
}

/* A pipe is emptied without a copy; anything else is read. */
static ssize_t take(int null)
{
    static char block[BLOCK];
    static bool no_splice;

    if (!no_splice) {
        ssize_t got = splice(STDIN_FILENO, NULL, null, NULL, 16 * BLOCK, 0);

        if (got >= 0 || errno != EINVAL)
            return got;
        no_splice = true;
    }
    return read(STDIN_FILENO, block, sizeof block);
}

/* Take everything. Returns the bytes; reports to the gate once. */
static uint64_t drain(int null, uint64_t wanted, const char *gate)
{
    uint64_t total = 0;

    for (;;) {
        ssize_t got = take(null);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            perror("sink: reading");
            exit(1);
        }
        total += (uint64_t)got;
        if (gate != NULL && (got == 0 || total == wanted)) {
            gate_report(gate);
            gate = NULL;
        }
        if (got == 0)
            return total;
    }
}

int main(int argc, char **argv)
{
    const char *gate = NULL;
    uint64_t wanted = UINT64_MAX;
    int option;

    while ((option = getopt(argc, argv, "+g:")) != -1) {
        if (option != 'g')
            usage();
        gate = optarg;
    }
    if (argc - optind > 1)
        usage();
    if (optind < argc)
        wanted = strtoull(argv[optind], NULL, 10);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0) {
        perror("sink: /dev/null");
        return 1;
    }
    if (gate != NULL)
        gate_report(gate);
    uint64_t total = drain(null, wanted, gate);
    if (optind < argc && total != wanted) {
        fprintf(stderr, "sink: %llu bytes came, %s were expected\n",
                (unsigned long long)total, argv[optind]);
        return 1;
    }
    return 0;
}
