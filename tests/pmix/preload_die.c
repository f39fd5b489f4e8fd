/* For LD_PRELOAD into a tool's helper: the first helper is killed when it has
 * sent as many messages of pushes as a file says; then the file is removed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/pmix/preload_push.h"

/* Reads the number of messages from the file; 0: the helper is not killed. */
static unsigned read_limit(void)
{
    FILE *file = fopen(getenv("XYLEM_TEST_DIE"), "r");
    unsigned limit = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%u", &limit) != 1)
        limit = 0;
    fclose(file);
    return limit;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    static unsigned sent;
    ssize_t (*real)(int, const struct msghdr *, int) =
        (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT,
                                                           "sendmsg");
    ssize_t rc = real(fd, msg, flags);

    if (rc > 0 && is_push(fd, msg) && ++sent == read_limit()) {
        unlink(getenv("XYLEM_TEST_DIE"));
        kill(getpid(), SIGKILL);
        pause();
    }
    return rc;
}
