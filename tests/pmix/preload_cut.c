/* For LD_PRELOAD into a tool: sends the head of each message in two parts, the
 * second one when the other side has read the first. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { HEAD_BYTES = 16, FIRST_BYTES = 5, LINE_MAX_BYTES = 512 };

typedef ssize_t (*function)(int, const struct iovec *, int);

static unsigned port_of(int fd,
                        int (*whose)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in addr = {0};
    socklen_t len = sizeof(addr);

    return whose(fd, (struct sockaddr *)&addr, &len) == 0 &&
                   addr.sin_family == AF_INET
               ? ntohs(addr.sin_port)
               : 0;
}

/* True when the connection from that port to the other one has unread bytes. */
static bool has_unread(unsigned from, unsigned to)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen("/proc/net/tcp", "r");
    unsigned local, remote, unread;
    bool has = false;

    while (file != NULL && !has && fgets(line, sizeof(line), file) != NULL) {
        has = sscanf(line, "%*d: %*x:%x %*x:%x %*x %*x:%x", &local, &remote,
                     &unread) == 3 &&
              local == from && remote == to && unread > 0;
    }
    if (file != NULL)
        fclose(file);
    return has;
}

static void wait_until_read(int fd, unsigned own, unsigned other)
{
    int unsent = 0;

    while (ioctl(fd, SIOCOUTQ, &unsent) == 0 && unsent > 0)
        sched_yield();
    while (has_unread(other, own))
        sched_yield();
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    function real = (function)dlsym(RTLD_NEXT, "writev");
    unsigned own = port_of(fd, getsockname), other = port_of(fd, getpeername);
    struct iovec first = {0};
    ssize_t done;

    if (own == 0 || other == 0 || count < 1 || parts[0].iov_len != HEAD_BYTES)
        return real(fd, parts, count);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    first = (struct iovec){parts[0].iov_base, FIRST_BYTES};
    done = real(fd, &first, 1);
    if (done > 0)
        wait_until_read(fd, own, other);
    return done;
}
