/* What tests of descriptors share: an event loop that fails the test when it
 * hangs, pipes, and a reader that takes everything. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

enum {
    RIG_LIMIT_S = 120, /* long enough that only a hang reaches it, not a slow
                        * machine */
    RIG_PIPE_BYTES = 64 * 1024
};

static inline uint64_t rig_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void rig_on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd; /* The callback does nothing: only the turn of the loop counts. */
    (void)what;
    (void)arg;
}

/* Runs the loop until is_true returns true. */
static inline void rig_run_until_true(struct event_base *base,
                                      bool (*is_true)(const void *arg),
                                      const void *arg)
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);
    const struct timeval tick = {.tv_sec = 1};
    struct event *timer = event_new(base, -1, EV_PERSIST, rig_on_tick, NULL);

    event_add(timer, &tick);
    while (!is_true(arg)) {
        event_base_loop(base, EVLOOP_ONCE);
        if (rig_now_ns() > limit_ns)
            fail_msg("not so after %d s", RIG_LIMIT_S);
    }
    event_free(timer);
}

struct rig_count {
    const unsigned *flag;
    unsigned want;
};

static inline bool rig_is_counted(const void *arg)
{
    const struct rig_count *count = arg;

    return *count->flag >= count->want;
}

/* Runs the loop until *flag has at least the value `want`. */
static inline void rig_run_until(struct event_base *base, const unsigned *flag,
                                 unsigned want)
{
    const struct rig_count count = {flag, want};

    rig_run_until_true(base, rig_is_counted, &count);
}

/* Makes a pipe of the usual size. When a user has very many pipes, for example
 * in other tests, the system makes new ones small until some are closed. */
static inline void rig_wide_pipe(int fds[2])
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);
    const struct timespec nap = {.tv_nsec = 20 * 1000000};

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    while (fcntl(fds[1], F_GETPIPE_SZ) < RIG_PIPE_BYTES &&
           fcntl(fds[1], F_SETPIPE_SZ, RIG_PIPE_BYTES) < 0) {
        if (rig_now_ns() > limit_ns)
            fail_msg("no wide pipe after %d s", RIG_LIMIT_S);
        nanosleep(&nap, NULL); /* sleep-ok: a pause between two checks */
    }
}

/* Opens a pseudoterminal: returns the master, and the other end in *slave. */
static inline int rig_terminal(int *slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];

    if (master < 0) {
        print_message("# left out: no terminal can be made here\n");
        skip();
    }
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    assert_int_equal(ptsname_r(master, name, sizeof(name)), 0);
    *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(*slave >= 0);
    return master;
}

/* Returns how many bytes can be read at once. */
static inline int rig_readable(int fd)
{
    int held = 0;

    assert_int_equal(ioctl(fd, FIONREAD, &held), 0);
    return held;
}

/* Returns the number of threads of this process. A thread that was joined is
 * still listed for a moment, so count before the first one is started. */
static inline unsigned rig_threads(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/task");

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2; /* the entries . and .. do not count */
}

/* Waits until this process has this many threads. */
static inline void rig_threads_until(unsigned want)
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);

    while (rig_threads() != want) {
        if (rig_now_ns() > limit_ns)
            fail_msg("still %u threads, not %u", rig_threads(), want);
        sched_yield();
    }
}

/* A thread that reads a descriptor to its end. */
struct rig_reader {
    pthread_t thread;
    uint8_t *mem; /* owned */
    size_t len_bytes;
    int fd; /* owned */
};

static inline void *rig_reader_main(void *arg)
{
    struct rig_reader *rd = arg;
    size_t cap_bytes = 0;
    ssize_t got;

    do {
        if (cap_bytes - rd->len_bytes < 1 << 16) {
            cap_bytes = cap_bytes * 2 + (1 << 20);
            rd->mem = realloc(rd->mem, cap_bytes);
        }
        got = read(rd->fd, rd->mem + rd->len_bytes, cap_bytes - rd->len_bytes);
        if (got > 0)
            rd->len_bytes += (size_t)got;
    } while (got > 0);
    close(rd->fd);
    return NULL;
}

static inline void rig_reader_start(struct rig_reader *rd, int fd)
{
    memset(rd, 0, sizeof(*rd));
    rd->fd = fd;
    assert_int_equal(pthread_create(&rd->thread, NULL, rig_reader_main, rd), 0);
}

static inline void rig_reader_join(struct rig_reader *rd)
{
    assert_int_equal(pthread_join(rd->thread, NULL), 0);
}

/* A small repeatable generator; the tests print its seed. */
static inline uint32_t rig_random(uint64_t *seed)
{
    *seed =
        *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

#endif
