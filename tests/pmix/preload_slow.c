/* For LD_PRELOAD into the helper: pauses before each message of the launcher is
 * handled, as on a busy machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { TALK_FD = 3, SLOW_NS = 3000000 };

ssize_t recv(int fd, void *mem, size_t bytes, int flags)
{
    static const struct timespec nap = {.tv_nsec = SLOW_NS};
    ssize_t (*real)(int, void *, size_t, int) =
        (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    ssize_t rc = real(fd, mem, bytes, flags);

    if (rc > 0 && fd == TALK_FD &&
        strcmp(program_invocation_short_name, "xylem-pmix") == 0)
        nanosleep(&nap, NULL); /* sleep-ok: the program exists for this pause */
    return rc;
}
