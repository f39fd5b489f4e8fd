/* For LD_PRELOAD into the helper: where it has closed a connection that others
 * had to a port of it, somebody who opens the FIFO to write holds it there
 * until he closes that. Before there is a FIFO of that name nothing is held. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HIGH = 200 };

static int is_connection(int fd)
{
    struct sockaddr_in peer;
    socklen_t len = sizeof(peer);

    return getsockname(fd, (struct sockaddr *)&peer, &len) == 0 &&
           peer.sin_family == AF_INET && peer.sin_port != 0;
}

/* What was closed is free for others again. */
static void hold(int fd, int low, int (*real)(int))
{
    char byte;

    real(low);
    while (read(fd, &byte, 1) > 0)
        ;
    real(fd);
}

int close(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    const char *path = getenv("XYLEM_TEST_HOLD");
    int is_held = path != NULL && is_connection(fd) &&
                  strcmp(program_invocation_short_name, "xylem-pmix") == 0;
    int rc = real(fd), low = is_held ? open(path, O_RDONLY) : -1;

    if (low >= 0)
        hold(fcntl(low, F_DUPFD_CLOEXEC, HIGH), low, real);
    return rc;
}
