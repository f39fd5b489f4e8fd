/* Turns a forked copy of the owner into the spawner process. */
#include "config.h"

#include "endpoints/spawn/setup.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "endpoints/sys/fds.h"

/* Ignores signals that a terminal or a resource manager sends to whole groups:
 * only the owner, or the owner's death, ends the spawner. */
static void signals_set(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP,
                                  SIGTTIN, SIGTTOU, SIGPIPE};
    sigset_t blocked;

    setpgid(0, 0);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Keeps the owner's socket at EP_SPAWN_OWNER_FD, stderr as it is, and /dev/null
 * at 0 and 1 (and at 2 when that was closed); closes all other descriptors. */
static int fds_set(int fd)
{
    int null_fd;

    fd = fcntl(fd, F_DUPFD_CLOEXEC, EP_SPAWN_OWNER_FD);
    if (fd < 0 ||
        (fd != EP_SPAWN_OWNER_FD && dup3(fd, EP_SPAWN_OWNER_FD, O_CLOEXEC) < 0))
        return -1;
    ep_fds_close_from(EP_SPAWN_OWNER_FD + 1);
    null_fd = open("/dev/null", O_RDWR);
    if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0)
        return -1;
    if (fcntl(2, F_GETFD) < 0 && dup2(null_fd, 2) < 0)
        return -1;
    if (null_fd > EP_SPAWN_OWNER_FD)
        close(null_fd);
    return 0;
}

int ep_spawn_setup(int fd, struct rlimit *nofile, int *signal_fd)
{
    struct rlimit raised;
    sigset_t seen;

    signals_set();
    prctl(PR_SET_NAME, "xylem-spawn");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || fds_set(fd) != 0 ||
        getrlimit(RLIMIT_NOFILE, nofile) != 0)
        return -1;
    raised = *nofile;
    raised.rlim_cur = raised.rlim_max;
    /* Setting the limit may fail: the old limit may be high enough. */
    setrlimit(RLIMIT_NOFILE, &raised);
    sigemptyset(&seen);
    sigaddset(&seen, SIGCHLD);
    *signal_fd = signalfd(-1, &seen, SFD_CLOEXEC | SFD_NONBLOCK);
    return *signal_fd < 0 ? -1 : 0;
}
