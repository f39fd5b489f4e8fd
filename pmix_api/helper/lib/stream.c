/* Controls how libpmix uses the tool's socket. */
#include "config.h"

#include "pmix_api/helper/lib/stream.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/head.h"

#define OF_LIBC(name) __asm__(name) __attribute__((visibility("default")))

ssize_t px_stream_writev(int fd, const struct iovec *parts, int count)
    OF_LIBC("writev");
ssize_t px_stream_read(int fd, void *mem, size_t bytes) OF_LIBC("read");
int px_stream_accept(int fd, struct sockaddr *address, socklen_t *len)
    OF_LIBC("accept");

enum { FDINFO_BYTES = 4096 };

static struct {
    const struct px_stream_events *events;
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*read)(int, void *, size_t);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    struct sockaddr_in library; /* the address at which libpmix listens; port 0:
                                   not known yet */
    /* The descriptor by which libpmix uses the tool's socket; -1: none yet. */
    atomic_int tool;
    /* The tool's socket, until accept() has returned it to libpmix. */
    atomic_int waiting;
    atomic_int dial;            /* our end of the connection to libpmix's
                                   port */
    _Atomic uint16_t dial_port; /* the port of `dial`, in network order */
    /* A write to the tool has failed; only used in libpmix's thread. */
    bool is_broken;
    /* The file in /proc about libpmix's epoll descriptor; -1: not known. */
    int watch;
} stream = {.tool = -1, .waiting = -1, .dial = -1, .watch = -1};

static bool find_function(const char *name, void *out)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(out, &found, sizeof(found));
    return found != NULL;
}

/* Finds the functions of libc, at their first use: other parts of the program
 * may read and write before px_stream_open(). */
static bool find_all(void)
{
    return (stream.writev != NULL || find_function("writev", &stream.writev)) &&
           (stream.read != NULL || find_function("read", &stream.read)) &&
           (stream.accept != NULL || find_function("accept", &stream.accept));
}

bool px_stream_open(const struct px_stream_events *events)
{
    stream.events = events;
    return find_all();
}

void px_stream_listen(const char *host, uint16_t port)
{
    stream.library.sin_family = AF_INET;
    inet_pton(AF_INET, host, &stream.library.sin_addr);
    stream.library.sin_port = htons(port);
}

/* --- what libpmix writes */

/* Sends a message so that no TCP segment ends within its head: when a tool's
 * libpmix (4.2.2) reads only a part of a head, it forgets that part and takes
 * the next bytes for a head. With MSG_EOR the kernel adds nothing to the last
 * segment of a message, so the next message begins a new segment. */
static ssize_t send_message(int fd, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts,
                             .msg_iovlen = (size_t)count};

    return sendmsg(fd, &message, MSG_EOR | MSG_NOSIGNAL);
}

static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR;
}

/* Reports the end of the tool's socket. libpmix closes its descriptor now, so
 * that number may be used again. When a tool closes its end with bytes unread,
 * the kernel resets the connection, and read() fails instead of returning 0. */
static void close_tool(bool is_clean)
{
    int why = errno;

    atomic_store(&stream.tool, -1);
    stream.events->on_closed(is_clean);
    errno = why;
}

static ssize_t sum_of(const struct iovec *parts, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += parts[i].iov_len;
    return (ssize_t)sum;
}

/* Writes to the tool. If that fails this returns as if all bytes were written,
 * because libpmix prints an error otherwise; libpmix learns of the tool's end
 * when it reads. */
static ssize_t write_tool(int fd, const struct iovec *parts, int count)
{
    ssize_t done;

    if (stream.is_broken || !stream.events->on_try(parts, count))
        return sum_of(parts, count);
    done = send_message(fd, parts, count);
    if (done > 0)
        stream.events->on_wrote((size_t)done);
    stream.is_broken = done < 0 && !is_passing(errno);
    return stream.is_broken ? sum_of(parts, count) : done;
}

ssize_t px_stream_writev(int fd, const struct iovec *parts, int count)
{
    if (!find_all()) {
        errno = ENOSYS;
        return -1;
    }
    if (fd < 0 || fd != atomic_load(&stream.tool))
        return stream.writev(fd, parts, count);
    return write_tool(fd, parts, count);
}

/* --- what libpmix reads */

static ssize_t read_tool(int fd, void *mem, size_t bytes)
{
    ssize_t got = px_head_is_one(fd, bytes)
                      ? px_head_read(fd, mem, bytes, stream.read)
                      : stream.read(fd, mem, bytes);

    if (bytes > 0 && (got == 0 || (got < 0 && !is_passing(errno))))
        close_tool(got == 0 && !stream.is_broken);
    return got;
}

ssize_t px_stream_read(int fd, void *mem, size_t bytes)
{
    if (!find_all()) {
        errno = ENOSYS;
        return -1;
    }
    return fd >= 0 && fd == atomic_load(&stream.tool)
               ? read_tool(fd, mem, bytes)
               : stream.read(fd, mem, bytes);
}

/* --- which connections come in */

/* True when this is the socket at which libpmix listens. While libpmix starts,
 * its port is not known, but nothing else calls accept() then. */
static bool is_library(int fd)
{
    struct sockaddr_in own = {.sin_family = AF_UNSPEC};
    socklen_t len = sizeof(own);

    if (stream.library.sin_port == 0)
        return true;
    return getsockname(fd, (struct sockaddr *)&own, &len) == 0 &&
           own.sin_family == AF_INET && own.sin_port == stream.library.sin_port;
}

/* True when this is our own connection to libpmix, whose other end has the port
 * that we have bound; no other socket can have it. */
static bool is_dial(int fd)
{
    struct sockaddr_in peer = {.sin_family = AF_UNSPEC};
    socklen_t len = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
           peer.sin_family == AF_INET &&
           peer.sin_addr.s_addr == stream.library.sin_addr.s_addr &&
           peer.sin_port == atomic_load(&stream.dial_port);
}

/* Has the kernel send small segments at once, as the last segment of a message
 * often is, without waiting for an acknowledgement of earlier bytes or for the
 * next message. */
static void set_hasty(int fd)
{
    static const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int hand_over(int dialled)
{
    int fd = is_dial(dialled) ? atomic_exchange(&stream.waiting, -1) : -1;

    close(dialled);
    if (fd < 0) {
        errno = EAGAIN; /* libpmix goes on after EAGAIN */
        return -1;
    }
    close(atomic_exchange(&stream.dial, -1));
    set_hasty(fd);
    px_head_forget(fd);
    atomic_store(&stream.tool, fd);
    return fd;
}

/* Replaces accept(). Any error but EAGAIN would make libpmix stop listening. */
int px_stream_accept(int fd, struct sockaddr *address, socklen_t *len)
{
    int got;

    if (!find_all()) {
        errno = ENOSYS;
        return -1;
    }
    if (stream.events == NULL || !is_library(fd))
        return stream.accept(fd, address, len);
    got = stream.accept(fd, address, len);
    if (got >= 0)
        return hand_over(got);
    if (errno != EINVAL && errno != EBADF)
        errno = EAGAIN;
    return -1;
}

/* Connects to libpmix. The socket is bound to a port first, by which is_dial()
 * recognises the connection. */
static int dial_library(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in own = stream.library;
    socklen_t len = sizeof(own);

    own.sin_port = 0;
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &len) != 0) {
        close(fd);
        return -1;
    }
    atomic_store(&stream.dial_port, own.sin_port);
    atomic_store(&stream.dial, fd);
    return fd;
}

int px_stream_dial(int fd)
{
    int dial = dial_library();

    if (dial < 0)
        return OV_ESYS;
    atomic_store(&stream.waiting, fd);
    if (connect(dial, (const struct sockaddr *)&stream.library,
                sizeof(stream.library)) == 0 ||
        errno == EINPROGRESS)
        return 0;
    atomic_store(&stream.waiting, -1);
    close(atomic_exchange(&stream.dial, -1));
    return OV_ESYS;
}

/* --- whether libpmix has something to write */

/* Reads the events for which an epoll descriptor watches `fd`; -1: it does not
 * watch it. */
static long find_watch(int watch, int fd)
{
    char text[FDINFO_BYTES];
    ssize_t got = pread(watch, text, sizeof(text) - 1, 0);
    unsigned events;
    int target;

    if (got <= 0)
        return -1;
    text[got] = '\0';
    for (const char *at = strstr(text, "tfd:"); at != NULL;
         at = strstr(at + 1, "tfd:")) {
        if (sscanf(at, "tfd: %d events: %x", &target, &events) == 2 &&
            target == fd)
            return (long)events;
    }
    return -1;
}

static long look_into(const char *name, int fd)
{
    char path[64];
    long events;
    int watch;

    if (name[0] == '.')
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", name);
    watch = open(path, O_RDONLY | O_CLOEXEC);
    if (watch < 0)
        return -1;
    events = find_watch(watch, fd);
    if (events >= 0)
        stream.watch = watch;
    else
        close(watch);
    return events;
}

/* Finds libpmix's epoll descriptor, which watches `fd`, and returns the events.
 * (Our own epoll descriptor watches another descriptor of the same socket.) */
static long look_around(int fd)
{
    DIR *all = opendir("/proc/self/fdinfo");
    const struct dirent *entry;
    long events = -1;

    while (all != NULL && events < 0 && (entry = readdir(all)) != NULL)
        events = look_into(entry->d_name, fd);
    if (all != NULL)
        closedir(all);
    return events;
}

bool px_stream_is_eager(void)
{
    int fd = atomic_load(&stream.tool);
    long events = -1;

    if (fd < 0)
        return false; /* no tool is connected, so nothing can be written */
    if (stream.watch >= 0)
        events = find_watch(stream.watch, fd);
    if (events < 0) {
        if (stream.watch >= 0)
            close(stream.watch);
        stream.watch = -1;
        events = look_around(fd);
    }
    return events < 0 || (events & EPOLLOUT) != 0;
}
