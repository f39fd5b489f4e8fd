/* For LD_PRELOAD into a tool's helper: its first push is held until a process
 * opens the FIFO for writing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/pmix/preload_push.h"

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    static bool is_over;
    ssize_t (*real)(int, const struct msghdr *, int) =
        (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT,
                                                           "sendmsg");

    if (!is_over && is_push(fd, msg)) {
        is_over = true;
        close(open(getenv("XYLEM_TEST_HOLD"), O_RDONLY));
    }
    return real(fd, msg, flags);
}
