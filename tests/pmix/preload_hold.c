/* For LD_PRELOAD into the helper: its first word to the launcher of a push is
 * held until somebody opens the FIFO to write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TALK_FD = 3, PUSH = 25, PUSHER = 29 };

ssize_t send(int fd, const void *mem, size_t bytes, int flags)
{
    static bool is_over;
    ssize_t (*real)(int, const void *, size_t, int) =
        (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    uint8_t kind = bytes > 0 ? *(const uint8_t *)mem : 0;

    if (!is_over && fd == TALK_FD && (kind == PUSH || kind == PUSHER) &&
        strcmp(program_invocation_short_name, "xylem-pmix") == 0) {
        is_over = true;
        close(open(getenv("XYLEM_TEST_HOLD"), O_RDONLY));
    }
    return real(fd, mem, bytes, flags);
}
