/* For LD_PRELOAD into the helper: the first one is killed when it has sent so
 * many messages of pushes as a file says, which is removed then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TALK_FD = 3, PUSH = 25 };

/* 0: it is to live. */
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

ssize_t send(int fd, const void *mem, size_t bytes, int flags)
{
    static unsigned sent;
    ssize_t (*real)(int, const void *, size_t, int) =
        (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    ssize_t rc = real(fd, mem, bytes, flags);

    if (rc > 0 && fd == TALK_FD && *(const uint8_t *)mem == PUSH &&
        strcmp(program_invocation_short_name, "xylem-pmix") == 0 &&
        ++sent == read_limit()) {
        unlink(getenv("XYLEM_TEST_DIE"));
        kill(getpid(), SIGKILL);
        pause();
    }
    return rc;
}
