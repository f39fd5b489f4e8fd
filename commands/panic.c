/* Words for a fault of ours. */
#include "commands/panic.h"

#include <stdio.h>
#include <stdlib.h>

#include "overlay/base/panic.h"

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr,
            "xylem: a fault of xylem itself: %s:%d: %s; please report "
            "it\n",
            file, line, what);
    abort();
}

void panic_install(void)
{
    ov_panic_set(on_panic);
}
