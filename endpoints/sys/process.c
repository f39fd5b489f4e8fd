/* Reads about processes in /proc. */
#include "endpoints/sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "job/hash.h"
#include "endpoints/sys/pid_stat.h"
#include "overlay/base/err.h"

enum {
    STAT_BYTES_MAX = 512, /* only this much of the file is read */
    WORD_BYTES_MAX = 128,
    /* PF_EXITING: the process can no longer start another one */
    FLAG_EXITING = 4
};

ssize_t ep_process_read(const char *path, char *text, size_t size_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t len = fd < 0 ? -1 : read(fd, text, size_bytes - 1);
    int err = errno;

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    errno = err;
    return len;
}

int ep_process_look(pid_t pid, struct ep_process *out)
{
    char path[64], text[STAT_BYTES_MAX];
    struct ep_pid_stat stat;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (ep_process_read(path, text, sizeof(text)) < 0)
        return errno == ENOENT || errno == ESRCH ? OV_ENOENT : OV_ESYS;
    if (ep_pid_stat_parse(text, &stat) != 0)
        return OV_ESYS;
    *out = (struct ep_process){
        .pid = pid,
        .parent = stat.parent,
        .start = stat.start,
        .cpu_ticks = stat.cpu_ticks,
        .state = stat.state,
        .is_zombie =
            ep_pid_stat_is_dead(&stat) || (stat.flags & FLAG_EXITING) != 0,
    };
    return 0;
}

/* clock_getcpuclockid() finds the number of the clock in the same way, but asks
 * the kernel whether there is such a process, which the next call does, too. */
uint64_t ep_process_ran_ns(pid_t pid)
{
    const clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
    struct timespec ts;

    if (clock_gettime(clock, &ts) != 0)
        return UINT64_MAX;
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

pid_t ep_process_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return *text >= '1' && *text <= '9' && *end == '\0' && number <= INT_MAX
               ? (pid_t)number
               : 0;
}

bool ep_process_owner(pid_t pid, uid_t *uid)
{
    struct stat of;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (pid <= 0 || stat(path, &of) != 0)
        return false;
    *uid = of.st_uid;
    return true;
}

int ep_process_watch(pid_t pid)
{
#ifdef SYS_pidfd_open
    if (pid > 0)
        return (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    (void)pid;
    return -1;
}

bool ep_process_can_look(void)
{
    char link[WORD_BYTES_MAX];
    ssize_t len = readlink("/proc/self", link, sizeof(link) - 1);

    if (len <= 0)
        return false;
    link[len] = '\0';
    return strtol(link, NULL, 10) == getpid();
}

uint64_t ep_process_boot(void)
{
    char text[WORD_BYTES_MAX];
    ssize_t len =
        ep_process_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));

    return len > 0 ? job_hash(text, (size_t)len, 0) : 0;
}

uint64_t ep_process_spaces(pid_t pid, const char *const *kinds, uint64_t hash)
{
    for (unsigned i = 0; kinds[i] != NULL; i++) {
        char path[64], text[WORD_BYTES_MAX];
        ssize_t len;

        snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kinds[i]);
        len = readlink(path, text, sizeof(text));
        if (len < 0 && i == 0)
            return 0;
        hash = job_hash(text, len < 0 ? 0 : (size_t)len, hash);
    }
    return hash;
}
