/* How long one line takes through a tree that has nothing else to do.
 *
 *     ping send [-g GATE] COUNT INTERVAL_MS     in the job, as every process
 *     ping recv COUNT                           behind the job's output
 *
 * The process with the highest rank (XYLEM_RANK, XYLEM_SIZE) writes COUNT lines
 * that hold the monotonic clock, INTERVAL_MS apart, the first one after an
 * interval; all of them then wait for the end of their input. The receiver
 * compares each with the clock and prints median, least and greatest in
 * microseconds. Both must run on one machine.
 */
#include "config.h"

#include "bench/gate.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNT_MAX = 100000 };

static _Noreturn void usage(void)
{
    fputs("usage: ping send [-g GATE] COUNT INTERVAL_MS | ping recv COUNT\n",
          stderr);
    exit(2);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int number_get(const char *text, int max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > max)
        usage();
    return (int)value;
}

static long env_get(const char *name)
{
    const char *text = getenv(name);

    if (text == NULL) {
        fprintf(stderr, "ping: %s is not set\n", name);
        exit(1);
    }
    return strtol(text, NULL, 10);
}

static void lines_send(int count, int interval_ms)
{
    struct timespec pause = {.tv_sec = interval_ms / 1000,
                             .tv_nsec = interval_ms % 1000 * 1000000L};
    char line[32];

    for (int i = 0; i < count; i++) {
        nanosleep(&pause, NULL);
        int len = snprintf(line, sizeof line, "%" PRId64 "\n", now_ns());
        if (write(STDOUT_FILENO, line, (size_t)len) != len) {
            perror("ping: writing");
            exit(1);
        }
    }
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static int receive(int count)
{
    static int64_t taken_ns[COUNT_MAX];
    char line[64];

    for (int i = 0; i < count; i++) {
        if (fgets(line, sizeof line, stdin) == NULL) {
            fprintf(stderr, "ping: %d of %d lines came\n", i, count);
            return 1;
        }
        taken_ns[i] = now_ns() - strtoll(line, NULL, 10);
    }
    qsort(taken_ns, (size_t)count, sizeof taken_ns[0], compare);
    printf("%.1f %.1f %.1f\n", (double)taken_ns[count / 2] / 1000,
           (double)taken_ns[0] / 1000, (double)taken_ns[count - 1] / 1000);
    return 0;
}

static int send_all(int argc, char **argv)
{
    const char *gate = NULL;
    char rest[256];
    int option;

    while ((option = getopt(argc, argv, "+g:")) != -1) {
        if (option != 'g')
            usage();
        gate = optarg;
    }
    if (argc - optind != 2)
        usage();
    int count = number_get(argv[optind], COUNT_MAX);
    int interval_ms = number_get(argv[optind + 1], 60000);
    if (gate != NULL)
        gate_wait(gate);
    if (env_get("XYLEM_RANK") + 1 == env_get("XYLEM_SIZE"))
        lines_send(count, interval_ms);
    while (read(STDIN_FILENO, rest, sizeof rest) > 0)
        continue;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        usage();
    if (strcmp(argv[1], "send") == 0)
        return send_all(argc - 1, argv + 1);
    if (strcmp(argv[1], "recv") == 0 && argc == 3)
        return receive(number_get(argv[2], COUNT_MAX));
    usage();
}
