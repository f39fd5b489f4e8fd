/* Closed standard descriptors, and words for a fault of ours. */
#include "commands/start.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "overlay/base/panic.h"

static void open_stdio(void)
{
    int fd;

    /* The lowest free number is taken: any below 3 is one that was closed. */
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd < 3);
    if (fd >= 0)
        close(fd);
}

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    fprintf(stderr,
            "xylem: a fault of xylem itself: %s:%d: %s; please report "
            "it\n",
            file, line, what);
    abort();
}

void start(void)
{
    open_stdio();
    ov_panic_set(on_panic);
}
