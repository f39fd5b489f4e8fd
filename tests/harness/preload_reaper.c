/* For LD_PRELOAD: a process that becomes a subreaper writes its name to the
 * file $TEST_REAPER, and "late" when it already has children, otherwise
 * "early". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *when)
{
    int fd = open(getenv("TEST_REAPER"),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char comm[16] = "", line[64];
    int len;

    syscall(SYS_prctl, PR_GET_NAME, comm);
    len = snprintf(line, sizeof(line), "%s %s\n", comm, when);
    if (fd < 0 || write(fd, line, (size_t)len) != len)
        abort();
    close(fd);
}

int prctl(int option, ...)
{
    unsigned long arg[4];
    siginfo_t info;
    va_list args;

    va_start(args, option);
    for (int i = 0; i < 4; i++)
        arg[i] = va_arg(args, unsigned long);
    va_end(args);
    if (option == PR_SET_CHILD_SUBREAPER && arg[0] == 1)
        tell(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
                 ? "late"
                 : "early");
    return (int)syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
}
