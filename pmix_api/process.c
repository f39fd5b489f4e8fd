/* Starts a tool's helper, sends it the tool's connection, and kills it. */
#include "config.h"

#include "pmix_api/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { SOCKET_BYTES = 1 << 20 };

/* The descriptors that the helper has at its start. In this process the
 * helper's end of the socket must have a number of at least HELPER_FDS, see
 * lift(). */
enum helper_fd { HELPER_TALK = 3, HELPER_FDS };

extern char **environ;

/* Gives the helper its own process group, so that signals of the terminal do
 * not reach it, and the default handlers and mask of signals. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    if (posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                 POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF) != 0)
        return -1;
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    return 0;
}

/* Sets the helper's descriptors. Its stderr goes to /dev/null unless
 * XYLEM_PMIX_STDERR is set, because only developers need what libpmix writes
 * there. */
static int set_files(posix_spawn_file_actions_t *actions, int talk)
{
    int rc = 0;

    if (getenv("XYLEM_PMIX_STDERR") == NULL)
        rc = posix_spawn_file_actions_addopen(actions, STDERR_FILENO,
                                              "/dev/null", O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                              "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO,
                                              "/dev/null", O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, talk, HELPER_TALK);
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, HELPER_FDS);
#endif
    return rc;
}

static int spawn(const char *path, char *const *argv, int talk, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = set_attributes(&attributes) != 0 ? EINVAL
                                              : set_files(&actions, talk);
        if (rc == 0)
            rc = posix_spawn(pid, path, &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Moves the descriptor to a number of at least HELPER_FDS. Else the dup2() for
 * the helper could be onto the same number, which would leave close-on-exec
 * set, or could close another descriptor that is still needed. -1 stays -1. */
static int lift(int fd)
{
    int high = fd < 0 || fd >= HELPER_FDS
                   ? fd
                   : fcntl(fd, F_DUPFD_CLOEXEC, HELPER_FDS);

    if (high != fd)
        close(fd);
    return high;
}

int px_process_start(const char *path, char *const *argv, pid_t *pid, int *fd)
{
    static const int bytes = SOCKET_BYTES;
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return OV_ESYS;
    for (unsigned i = 0; i < 2; i++)
        setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    pair[1] = lift(pair[1]);
    rc = pair[1] < 0 ? errno : spawn(path, argv, pair[1], pid);
    if (pair[1] >= 0)
        close(pair[1]);
    if (rc != 0) {
        close(pair[0]);
        errno = rc;
        return OV_ESYS;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *fd = pair[0];
    return 0;
}

int px_process_give(int fd, int given)
{
    union {
        char mem[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.mem = {0}};
    char byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.mem,
                         .msg_controllen = sizeof(control.mem)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(given));
    memcpy(CMSG_DATA(head), &given, sizeof(given));
    return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : OV_ESYS;
}

int px_process_end(pid_t pid)
{
    int status = 0;

    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}
