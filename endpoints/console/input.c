/* The reading thread and its one request.
 *
 * The request is passed between the threads under a lock: the loop sets it, the
 * thread answers it, and each wakes the other with an eventfd. The thread
 * sleeps in poll() on its own eventfd and, while there is a request, on the
 * input.
 */
#include "config.h"

#include "endpoints/console/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/sys/fds.h"
#include "endpoints/sys/thread.h"
#include "endpoints/sys/waker.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    BACKGROUND_LOOK_MS = 500,
    FOR_EVER = -1,
};

enum request {
    REQUEST_NONE,
    REQUEST_OPEN,
    REQUEST_ANSWERED,
};

/* What a read has found. */
struct answer {
    uint32_t len_bytes;
    bool is_end; /* true: the input ends after these bytes */
    int err;     /* errno of an error after these bytes; 0: none */
};

struct ep_input {
    const struct ep_input_events *events;
    void *arg;
    struct event *answered; /* readable when the thread has answered */
    int answered_fd;
    int wake_fd; /* wakes the thread, so that it checks again */
    int fd;      /* -1: it is closed, and so at its end */
    pthread_t thread;
    uint64_t total_bytes;
    uint64_t read_bytes; /* used by the thread: bytes read, delivered or not */
    off_t start;         /* offset of a regular file at the start; -1: none */
    bool has_thread;
    bool is_over;  /* on_end or on_error was called */
    bool is_stuck; /* the thread is in a system call that does not return */
    bool in_callback;
    bool is_closed; /* a callback has closed it; freed after the callback */
    struct answer later;  /* used by the thread: an end that came after bytes */
    pthread_mutex_t lock; /* guards the members below */
    enum request request;
    uint8_t *dst; /* borrowed */
    uint32_t room_bytes;
    struct answer answer;
    atomic_bool quit;
};

/* ---- the thread ---- */

/* True when another program has the terminal. A descriptor that is no terminal
 * has no foreground, and a terminal that is not our controlling one does not
 * stop us. */
static bool is_in_background(int fd)
{
    pid_t group;

    if (!isatty(fd))
        return false;
    group = tcgetpgrp(fd);
    return group >= 0 && group != getpgrp();
}

/* Reads once. Returns false when there is nothing to read now: check again. */
static bool read_some(struct ep_input *in, uint8_t *dst, uint32_t room_bytes,
                      struct answer *out)
{
    ssize_t got = read(in->fd, dst, room_bytes);

    if (got > 0) {
        in->read_bytes += (uint64_t)got;
        out->len_bytes += (uint32_t)got;
        return true;
    }
    if (got == 0) {
        out->is_end = true;
        return true;
    }
    if (errno == EINTR || errno == EAGAIN)
        return false;
    /* We were sent to the background after the check. */
    if (errno == EIO && is_in_background(in->fd))
        return false;
    out->err = errno;
    return true;
}

/* Waits until the input can be read. Returns false when the thread was woken to
 * check again. */
static bool input_wait(struct ep_input *in)
{
    const bool is_away = is_in_background(in->fd);
    struct pollfd fds[2] = {
        {.fd = in->wake_fd, .events = POLLIN},
        {.fd = is_away ? -1 : in->fd, .events = POLLIN},
    };
    int n = poll(fds, 2, is_away ? BACKGROUND_LOOK_MS : FOR_EVER);

    if (n <= 0)
        return false;
    if (fds[0].revents != 0) {
        ep_waker_hear(in->wake_fd);
        return false;
    }
    /* Another program may have got the terminal while we waited. */
    return fds[1].revents != 0 && !is_in_background(in->fd);
}

static bool has_more(const struct ep_input *in)
{
    struct pollfd pfd = {.fd = in->fd, .events = POLLIN};

    return poll(&pfd, 1, 0) > 0 && !is_in_background(in->fd);
}

/* Reads the first bytes into dst, and more as long as more can be read at once.
 * Returns false when the thread has to end. */
static bool input_read(struct ep_input *in, uint8_t *dst, uint32_t room_bytes,
                       struct answer *out)
{
    *out = in->later;
    while (out->len_bytes == 0 && !out->is_end && out->err == 0) {
        if (atomic_load(&in->quit))
            return false;
        if (input_wait(in))
            read_some(in, dst, room_bytes, out);
    }
    while (out->len_bytes < room_bytes && !out->is_end && out->err == 0 &&
           has_more(in)) {
        if (!read_some(in, dst + out->len_bytes, room_bytes - out->len_bytes,
                       out))
            break;
    }
    /* The end of a terminal can be read only once, so it is kept for the next
     * request. */
    in->later = (struct answer){.is_end = out->is_end, .err = out->err};
    return true;
}

/* Waits for the next request. Returns false when the thread has to end. */
static bool request_wait(struct ep_input *in, uint8_t **dst,
                         uint32_t *room_bytes)
{
    struct pollfd pfd = {.fd = in->wake_fd, .events = POLLIN};
    bool is_open = false;

    while (!is_open && !atomic_load(&in->quit)) {
        pthread_mutex_lock(&in->lock);
        is_open = in->request == REQUEST_OPEN;
        *dst = in->dst;
        *room_bytes = in->room_bytes;
        pthread_mutex_unlock(&in->lock);
        if (!is_open && poll(&pfd, 1, FOR_EVER) > 0)
            ep_waker_hear(in->wake_fd);
    }
    return is_open;
}

static void *input_main(void *arg)
{
    struct ep_input *in = arg;
    struct answer answer;
    uint8_t *dst;
    uint32_t room_bytes;

    while (request_wait(in, &dst, &room_bytes) &&
           input_read(in, dst, room_bytes, &answer)) {
        pthread_mutex_lock(&in->lock);
        in->answer = answer;
        in->request = REQUEST_ANSWERED;
        pthread_mutex_unlock(&in->lock);
        ep_waker_wake(in->answered_fd);
    }
    return NULL;
}

/* ---- the loop ---- */

static void input_free(struct ep_input *in)
{
    if (in->answered != NULL)
        event_free(in->answered);
    if (in->answered_fd >= 0)
        close(in->answered_fd);
    if (in->wake_fd >= 0)
        close(in->wake_fd);
    if (in->fd >= 0)
        close(in->fd);
    pthread_mutex_destroy(&in->lock);
    free(in);
}

static void answer_tell(struct ep_input *in, const struct answer *answer)
{
    in->total_bytes += answer->len_bytes;
    if (answer->len_bytes > 0) {
        in->events->on_data(in->arg, answer->len_bytes);
        return; /* an end after these bytes answers the next request */
    }
    in->is_over = true;
    if (answer->err != 0)
        in->events->on_error(in->arg, answer->err);
    else
        in->events->on_end(in->arg);
}

static void on_answered(evutil_socket_t fd, short what, void *arg)
{
    struct ep_input *in = arg;
    struct answer answer;
    bool is_answered;

    (void)what;
    ep_waker_hear(fd);
    pthread_mutex_lock(&in->lock);
    is_answered = in->request == REQUEST_ANSWERED;
    answer = in->answer;
    if (is_answered)
        in->request = REQUEST_NONE;
    pthread_mutex_unlock(&in->lock);
    if (!is_answered)
        return;
    in->in_callback = true;
    answer_tell(in, &answer);
    in->in_callback = false;
    if (in->is_closed)
        input_free(in);
}

/* Copies fd to *out; -1 when fd cannot be read from. Returns 0 or an error. */
static int fd_copy(int fd, int *out)
{
    *out = -1;
    if (fd < 0)
        return 0;
    *out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ep_fds_widen(fd); /* a pipe with more room lets each read fill a frame */
    return *out < 0 && errno != EBADF ? OV_ESYS : 0;
}

/* Returns the offset of a regular file that is open for reading; -1 for any
 * other descriptor. */
static off_t file_offset(int fd)
{
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || fstat(fd, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return -1;
    return lseek(fd, 0, SEEK_CUR);
}

int ep_input_open(struct event_base *base, int fd,
                  const struct ep_input_events *events, void *arg,
                  struct ep_input **out)
{
    struct ep_input *in = calloc(1, sizeof(*in));
    int rc;

    if (in == NULL)
        return OV_ENOMEM;
    pthread_mutex_init(&in->lock, NULL);
    in->events = events;
    in->arg = arg;
    in->wake_fd = -1;
    in->answered_fd = ep_waker_open();
    rc = fd_copy(fd, &in->fd);
    in->start = file_offset(in->fd);
    if (rc == 0)
        in->wake_fd = ep_waker_open();
    if (rc != 0 || in->wake_fd < 0 || in->answered_fd < 0) {
        input_free(in);
        return OV_ESYS;
    }
    in->answered = ep_waker_event(base, in->answered_fd, on_answered, in);
    if (in->answered == NULL) {
        input_free(in);
        return OV_ENOMEM;
    }
    *out = in;
    return 0;
}

/* Ends the thread. Sets `is_stuck` when the thread does not leave a system
 * call. */
static void thread_end(struct ep_input *in)
{
    if (!in->has_thread)
        return;
    atomic_store(&in->quit, true);
    ep_waker_wake(in->wake_fd);
    in->is_stuck = !ep_thread_join(in->thread, true);
    in->has_thread = false;
}

bool ep_input_give_back(struct ep_input *in, uint64_t taken_bytes)
{
    OV_ASSERT(!in->in_callback && taken_bytes <= in->total_bytes);
    event_del(in->answered);
    thread_end(in);
    in->is_over = true;
    if (in->start < 0 || in->is_stuck ||
        lseek(in->fd, 0, SEEK_CUR) != in->start + (off_t)in->read_bytes)
        return false;
    return lseek(in->fd, in->start + (off_t)taken_bytes, SEEK_SET) >= 0;
}

void ep_input_close(struct ep_input *in)
{
    if (in == NULL)
        return;
    thread_end(in);
    event_del(in->answered);
    if (in->is_stuck)
        return; /* the thread still uses this memory */
    if (in->in_callback)
        in->is_closed = true;
    else
        input_free(in);
}

/* Answers a request that needs no thread. */
static void answer_at_once(struct ep_input *in, bool is_end, int err)
{
    in->answer = (struct answer){.is_end = is_end, .err = err};
    in->request = REQUEST_ANSWERED;
    ep_waker_wake(in->answered_fd);
}

int ep_input_want(struct ep_input *in, uint8_t *dst, uint32_t room_bytes)
{
    bool is_free;

    if (room_bytes == 0 || in->is_over)
        return OV_EINVAL;
    if (in->fd >= 0 && !in->has_thread && in->request == REQUEST_NONE) {
        int err = ep_thread_start(&in->thread, input_main, in);

        in->has_thread = err == 0;
        if (err != 0) {
            answer_at_once(in, false, err);
            return 0;
        }
    }
    pthread_mutex_lock(&in->lock);
    is_free = in->request == REQUEST_NONE;
    if (is_free) {
        in->dst = dst;
        in->room_bytes = room_bytes;
        in->request = REQUEST_OPEN;
    }
    pthread_mutex_unlock(&in->lock);
    if (!is_free)
        return OV_EINVAL;
    if (in->fd < 0)
        answer_at_once(in, true, 0);
    else
        ep_waker_wake(in->wake_fd);
    return 0;
}

void ep_input_wake(struct ep_input *in)
{
    if (in->has_thread)
        ep_waker_wake(in->wake_fd);
}
