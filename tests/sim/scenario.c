/* Runs a scenario from standard input: see sim/scenario.h. Exit 1 when
 * something was not as expected.
 *
 * usage: scenario [SECONDS]        real seconds that it may take; 60
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "overlay/base/panic.h"
#include "sim/scenario.h"

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static struct timespec begin;
static double limit_s = 60;

static bool goes_on(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin.tv_sec) +
               (double)(now.tv_nsec - begin.tv_nsec) / 1e9 <
           limit_s;
}

int main(int argc, char **argv)
{
    ov_panic_set(on_panic);
    if (argc > 1)
        limit_s = strtod(argv[1], NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    return sim_scenario_run(stdin, stdout, goes_on) ? 0 : 1;
}
