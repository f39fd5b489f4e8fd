/* Closes descriptors that must not be inherited, on new kernels and old
 * ones. */
#include "config.h"

#include "endpoints/sys/fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call has this number on every architecture except alpha. */
#if !defined(SYS_close_range) && !defined(__alpha__)
#define SYS_close_range 436
#endif

static int range_close(unsigned first)
{
#if defined(HAVE_CLOSE_RANGE)
    return close_range(first, UINT_MAX, 0);
#elif defined(SYS_close_range)
    return (int)syscall(SYS_close_range, first, UINT_MAX, 0);
#else
    (void)first;
    return -1;
#endif
}

static void close_counted(int first)
{
    struct rlimit limit;
    rlim_t end = 65536;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end)
        end = limit.rlim_cur;
    for (int fd = first; (rlim_t)fd < end; fd++)
        close(fd);
}

void ep_fds_close_listed(int first)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (dir == NULL) {
        close_counted(first);
        return;
    }
    /* Closing while reading is safe here: a position in this folder is a
     * descriptor's number. */
    while ((entry = readdir(dir)) != NULL) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' && fd >= first &&
            fd != dirfd(dir))
            close((int)fd);
    }
    closedir(dir);
}

void ep_fds_close_from(int first)
{
    if (range_close((unsigned)first) != 0)
        ep_fds_close_listed(first);
}

void ep_fds_widen(int fd)
{
    int bytes = fcntl(fd, F_GETPIPE_SZ);

    if (bytes >= 0 && bytes < EP_PIPE_BYTES)
        fcntl(fd, F_SETPIPE_SZ, EP_PIPE_BYTES);
}
