/* For LD_PRELOAD into helpers: every helper but the first is held while it
 * starts libpmix, before it is ready, until a process opens the FIFO for
 * writing. A file beside the FIFO says that a helper is held. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*function)(void *, void *, size_t);

static bool make(const char *path, const char *end)
{
    char name[4096];
    int fd;

    snprintf(name, sizeof(name), "%s.%s", path, end);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void hold(const char *path)
{
    if (make(path, "first"))
        return;
    make(path, "held");
    close(open(path, O_RDONLY));
}

int PMIx_server_init(void *module, void *infos, size_t count)
{
    function real = (function)dlsym(RTLD_NEXT, "PMIx_server_init");
    int rc = real(module, infos, count);

    hold(getenv("XYLEM_TEST_HOLD"));
    return rc;
}
