/* For LD_PRELOAD into a tool: it says so when it is about to ask its server
 * for something, and is held until somebody opens the FIFO to write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*blocking)(void *, size_t, void *, void *);
typedef int (*other)(void *, size_t, void *, void *);

static void *hold(const char *name)
{
    fprintf(stderr, "asks\n");
    close(open(getenv("XYLEM_TEST_HOLD"), O_RDONLY));
    return dlsym(RTLD_NEXT, name);
}

int PMIx_Query_info(void *queries, size_t count, void *results, void *found)
{
    blocking real = (blocking)hold("PMIx_Query_info");

    return real(queries, count, results, found);
}

int PMIx_Query_info_nb(void *queries, size_t count, void *done, void *arg)
{
    other real = (other)hold("PMIx_Query_info_nb");

    return real(queries, count, done, arg);
}
