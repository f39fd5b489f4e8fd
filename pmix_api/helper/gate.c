/* Connections that have yet to say who they are. */
#include "pmix_api/helper/gate.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pmix_api/helper/sockets.h"

/* Its inode tells it from the next one with its descriptor also when it has no
 * other end any more. */
struct stranger {
    struct px_socket sock;
    ino_t inode;
    bool is_ended; /* the library has yet to close it */
};

static struct {
    pthread_mutex_t lock;
    struct stranger strangers[GATE_MAX]; /* the oldest first */
    unsigned count;
    bool is_open;
    bool is_new;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_alive(const struct stranger *stranger)
{
    struct stat stat;

    return fstat(stranger->sock.fd, &stat) == 0 &&
           stat.st_ino == stranger->inode;
}

static void remove_at(unsigned at)
{
    gate.count--;
    memmove(&gate.strangers[at], &gate.strangers[at + 1],
            (gate.count - at) * sizeof(gate.strangers[0]));
}

static void forget_closed(void)
{
    for (unsigned i = 0; i < gate.count;) {
        if (is_alive(&gate.strangers[i]))
            i++;
        else
            remove_at(i);
    }
}

/* One after the other: the library closes the first that it waits for, and goes
 * on. One that has begun to speak may be a tool that is being let in. */
static void end_oldest(void)
{
    for (unsigned i = 0; i < gate.count; i++) {
        if (gate.strangers[i].is_ended)
            return;
    }
    for (unsigned i = 0; i < gate.count; i++) {
        struct stranger *stranger = &gate.strangers[i];

        if (px_socket_has_spoken(&stranger->sock))
            continue;
        px_socket_end(&stranger->sock);
        stranger->is_ended = true;
        return;
    }
}

static bool has_room(void)
{
    if (gate.count == GATE_MAX)
        forget_closed();
    if (gate.count < GATE_MAX)
        return true;
    end_oldest();
    return false;
}

static bool may_pass(void)
{
    bool may;

    pthread_mutex_lock(&gate.lock);
    may = gate.is_open && has_room();
    pthread_mutex_unlock(&gate.lock);
    return may;
}

void px_gate_open(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_open = true;
    pthread_mutex_unlock(&gate.lock);
}

bool px_gate_wait(void)
{
    static const struct timespec look = {.tv_nsec = 1000000};

    for (unsigned ms = 0; ms < GATE_WAIT_MS; ms++) {
        if (may_pass())
            return true;
        nanosleep(&look, NULL);
    }
    return false;
}

void px_gate_add(int fd)
{
    struct stranger stranger = {.is_ended = false};
    struct stat stat;
    bool is_there = fstat(fd, &stat) == 0;

    if (is_there) {
        stranger.sock = px_socket_of(fd);
        stranger.inode = stat.st_ino;
    }
    pthread_mutex_lock(&gate.lock);
    if (is_there && gate.count < GATE_MAX)
        gate.strangers[gate.count++] = stranger;
    gate.is_new = true;
    pthread_mutex_unlock(&gate.lock);
}

bool px_gate_is_new(void)
{
    bool is_new;

    pthread_mutex_lock(&gate.lock);
    is_new = gate.is_new;
    gate.is_new = false;
    pthread_mutex_unlock(&gate.lock);
    return is_new;
}

void px_gate_admit(int fd)
{
    pthread_mutex_lock(&gate.lock);
    forget_closed();
    for (unsigned i = 0; i < gate.count; i++) {
        if (gate.strangers[i].sock.fd == fd) {
            remove_at(i);
            break;
        }
    }
    pthread_mutex_unlock(&gate.lock);
}

/* A new descriptor is the lowest that is free. */
bool px_gate_is_starved(void)
{
    struct rlimit limit;
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        close(fd);
    return fd < 0 || (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                      (rlim_t)fd + GATE_SPARE > limit.rlim_cur);
}
