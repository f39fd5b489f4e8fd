/* For LD_PRELOAD into helpers: all but the first are held where libpmix is
 * started already and they are not ready yet, until somebody opens the FIFO to
 * write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*function)(void *, void *, size_t);

static void hold(const char *path)
{
    char first[4096];
    int fd;

    snprintf(first, sizeof(first), "%s.first", path);
    fd = open(first, O_WRONLY | O_CREAT | O_EXCL, 0600);
    close(fd >= 0 ? fd : open(path, O_RDONLY));
}

int PMIx_server_init(void *module, void *infos, size_t count)
{
    function real = (function)dlsym(RTLD_NEXT, "PMIx_server_init");
    int rc = real(module, infos, count);

    hold(getenv("XYLEM_TEST_HOLD"));
    return rc;
}
