/* Runs a scenario from standard input: see sim/scenario.h. Exit 1 when
 * something was not as expected. */
#include <stdio.h>
#include <stdlib.h>

#include "overlay/base/panic.h"
#include "sim/scenario.h"

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

int main(void)
{
    ov_panic_set(on_panic);
    return sim_scenario_run(stdin, stdout) ? 0 : 1;
}
