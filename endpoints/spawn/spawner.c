/* The owner's side of the spawner: sends requests and receives events. */
#include "config.h"

#include "endpoints/spawn/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/spawn/child.h"
#include "endpoints/spawn/msg.h"
#include "endpoints/spawn/setup.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum {
    /* most messages before other events of the loop run */
    MESSAGES_PER_CALL = 64,
    /* wait before the next try when too many descriptors are in flight */
    RETRY_MS = 5,
    /* how long ep_spawner_close waits until all processes are killed */
    CLOSE_MS = 10000,
};

struct ep_spawner {
    struct ep_wire wire;
    pid_t pid;              /* 0: the spawner has ended, and was reaped */
    int status;             /* the spawner's exit status, once it was reaped */
    struct event *readable; /* owned; NULL before ep_spawner_attach */
    struct event *writable;
    struct event *retry;
    const struct ep_spawner_events *events; /* borrowed */
    void *arg;
    bool is_lost;
    bool *closed; /* borrowed: set to true when a callback closes the spawner */
};

static int fork_child(int fds[2], unsigned grace_ms, pid_t *pid)
{
    sigset_t all;
    sigset_t before;

    /* A ^C must not reach the child before it has left our process group. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *pid = fork();
    if (*pid == 0)
        ep_spawn_child_run(fds[1], grace_ms);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return *pid < 0 ? OV_ESYS : 0;
}

/* Starts the spawner with all signals blocked, by running a program that calls
 * ep_spawner_become. */
static int exec_child(const char *path, int fds[2], pid_t *pid)
{
    char *argv[] = {(char[]){"xylem"}, (char[]){EP_SPAWNER_OPTION}, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all;
    int rc, fd = fcntl(fds[1], F_DUPFD_CLOEXEC, EP_SPAWN_OWNER_FD + 1);

    if (fd < 0)
        return OV_ESYS;
    close(fds[1]);
    fds[1] = fd;
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0)
        return OV_ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return OV_ENOMEM;
    }
    rc = posix_spawn_file_actions_adddup2(&files, fd, EP_SPAWN_OWNER_FD);
    if (rc == 0)
        rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(&attributes, &all);
    if (rc == 0)
        rc = posix_spawn(pid, path, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? 0 : OV_ESYS;
}

/* Makes the spawner by fork or, if path is not NULL, by running that
 * program. */
static int open_by(const char *path, unsigned grace_ms, struct ep_spawner **out)
{
    struct ep_spawner *sp = calloc(1, sizeof(*sp));
    int fds[2] = {-1, -1};
    int rc;

    if (sp == NULL)
        return OV_ENOMEM;
    sp->wire.fd = -1;
    rc = OV_ESYS;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   fds) != 0)
        goto fail;
    rc = ep_wire_init(&sp->wire, fds[0]);
    if (rc != 0) {
        close(fds[0]);
        goto fail;
    }
    rc = path == NULL ? fork_child(fds, grace_ms, &sp->pid)
                      : exec_child(path, fds, &sp->pid);
    if (rc != 0)
        goto fail;
    close(fds[1]);
    *out = sp;
    return 0;

fail:
    ep_wire_fini(&sp->wire);
    if (fds[1] >= 0)
        close(fds[1]);
    free(sp);
    return rc;
}

int ep_spawner_open(unsigned grace_ms, struct ep_spawner **out)
{
    return open_by(NULL, grace_ms, out);
}

int ep_spawner_exec(const char *path, struct ep_spawner **out)
{
    return open_by(path, 0, out);
}

_Noreturn void ep_spawner_become(void)
{
    ep_spawn_child_run(EP_SPAWN_OWNER_FD, 0);
}

int64_t ep_spawner_pid(const struct ep_spawner *sp)
{
    return sp->pid;
}

/* Sends what the socket takes, and has itself called again for the rest. */
static int flush(struct ep_spawner *sp)
{
    static const struct timeval retry = {.tv_usec = RETRY_MS * 1000};
    int rc = ep_wire_flush(&sp->wire);

    if (rc == OV_EAGAIN && sp->writable != NULL)
        event_add(sp->writable, NULL);
    else if (rc == OV_EFULL && sp->retry != NULL)
        event_add(sp->retry, &retry);
    else if (rc == OV_ECLOSED)
        ep_wire_clear(&sp->wire); /* the next read reports the loss */
    return rc == OV_EAGAIN || rc == OV_EFULL ? 0 : rc;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    flush(arg);
}

static int tell_report(struct ep_spawner *sp, const struct ep_wire_in *in)
{
    struct ep_report report;
    int rc = ep_report_decode(in, &report);

    if (rc != 0)
        return rc;
    switch (in->type) {
    case EP_SPAWN_STARTED:
        sp->events->on_started(sp->arg, report.proc, (pid_t)report.value);
        return 0;
    case EP_SPAWN_FAILED:
        sp->events->on_failed(sp->arg, report.proc, ep_step_name(report.step),
                              (int)report.value);
        return 0;
    case EP_SPAWN_EXIT:
        sp->events->on_exit(sp->arg, report.proc, (int)report.value,
                            report.at_ns);
        return 0;
    case EP_SPAWN_ENDED:
        sp->events->on_ended(sp->arg);
        return 0;
    case EP_SPAWN_ELSEWHERE:
        if (sp->events->on_elsewhere != NULL)
            sp->events->on_elsewhere(sp->arg, report.proc, (int)report.value);
        return 0;
    default:
        return OV_EPROTO;
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ep_spawner *sp = arg;
    bool closed = false;
    int rc = 0;

    (void)fd;
    (void)what;
    sp->closed = &closed;
    for (unsigned i = 0; rc == 0 && i < MESSAGES_PER_CALL; i++) {
        struct ep_wire_in in;

        rc = ep_wire_recv(&sp->wire, &in);
        if (rc == 0)
            rc = tell_report(sp, &in);
        if (closed)
            return;
    }
    sp->closed = NULL;
    if (rc == 0 || rc == OV_EAGAIN)
        return;
    sp->is_lost = true;
    event_del(sp->readable);
    event_del(sp->writable);
    event_del(sp->retry);
    ep_wire_clear(&sp->wire);
    sp->events->on_lost(sp->arg);
}

int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg)
{
    sp->events = events;
    sp->arg = arg;
    sp->readable =
        event_new(base, sp->wire.fd, EV_READ | EV_PERSIST, on_readable, sp);
    sp->writable = event_new(base, sp->wire.fd, EV_WRITE, on_writable, sp);
    sp->retry = evtimer_new(base, on_writable, sp);
    if (sp->readable == NULL || sp->writable == NULL || sp->retry == NULL ||
        event_add(sp->readable, NULL) != 0)
        return OV_ENOMEM;
    flush(sp);
    return 0;
}

/* Posts a message; or, when `out` is NULL, returns the error for which it was
 * not made. */
static int post_message(struct ep_spawner *sp, struct ep_wire_out *out, int err,
                        const int *fds, uint8_t fd_count)
{
    int rc;

    if (out == NULL)
        return err;
    if (sp->is_lost) {
        ep_wire_out_free(out);
        return OV_ECLOSED;
    }
    rc = ep_wire_post(&sp->wire, out, fds, fd_count);
    if (rc == 0 && !ep_wire_is_empty(&sp->wire))
        rc = flush(sp);
    return rc;
}

int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what)
{
    int err;
    struct ep_wire_out *out = ep_spawn_job_encode(job, what, &err);

    return post_message(sp, out, err, NULL, 0);
}

int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what)
{
    int fds[EP_WIRE_FDS_MAX];
    uint8_t count = 0;
    int err;
    struct ep_wire_out *out = ep_start_encode(what, &err);

    for (unsigned i = 0; i < 3; i++) {
        if (what->stdio[i] >= 0)
            fds[count++] = what->stdio[i];
    }
    if (what->further > 0)
        fds[count++] = what->further;
    return post_message(sp, out, err, fds, count);
}

int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo)
{
    struct ep_signal sig = {.proc = proc, .signo = (uint8_t)signo};
    int err;
    struct ep_wire_out *out;

    if (signo < 1 || signo > 64)
        return OV_EINVAL;
    out = ep_signal_encode(&sig, &err);
    return post_message(sp, out, err, NULL, 0);
}

static int end_send(struct ep_spawner *sp, enum ep_spawn_msg type)
{
    struct ep_wire_out *out = ep_wire_out_new((uint8_t)type, 0);

    return post_message(sp, out, OV_ENOMEM, NULL, 0);
}

int ep_spawner_end(struct ep_spawner *sp)
{
    return end_send(sp, EP_SPAWN_END);
}

int ep_spawner_sweep(struct ep_spawner *sp)
{
    return end_send(sp, EP_SPAWN_SWEEP);
}

/* Asks the spawner to exit, and waits until its end of the socket is closed by
 * that. */
static bool leave_wait(struct ep_spawner *sp)
{
    int64_t end_ms = ep_clock_ms() + CLOSE_MS;
    int rc;

    ep_wire_clear(&sp->wire);
    rc = end_send(sp, EP_SPAWN_CLOSE);
    while (rc == 0 || rc == OV_EAGAIN) {
        struct pollfd poller = {.fd = sp->wire.fd, .events = POLLIN};
        int64_t left_ms = end_ms - ep_clock_ms();
        struct ep_wire_in in;

        if (left_ms <= 0)
            return false;
        if (ep_wire_flush(&sp->wire) != 0 && left_ms > RETRY_MS)
            left_ms = RETRY_MS;
        poll(&poller, 1, (int)left_ms);
        rc = ep_wire_recv(&sp->wire, &in);
    }
    return rc == OV_ECLOSED;
}

static void spawner_free(struct ep_spawner *sp)
{
    if (sp->closed != NULL)
        *sp->closed = true;
    if (sp->readable != NULL)
        event_free(sp->readable);
    if (sp->writable != NULL)
        event_free(sp->writable);
    if (sp->retry != NULL)
        event_free(sp->retry);
    ep_wire_fini(&sp->wire);
    free(sp);
}

bool ep_spawner_close(struct ep_spawner *sp)
{
    bool is_closed, has_left;
    pid_t reaped;

    if (sp == NULL)
        return true;
    is_closed = !sp->is_lost && leave_wait(sp);
    /* The spawner's death ends at least the processes that it has started
     * itself. Its number cannot belong to another process: only we reap it. */
    if (!is_closed && sp->pid > 0)
        kill(sp->pid, SIGKILL);
    do {
        reaped = sp->pid > 0 ? waitpid(sp->pid, &sp->status, 0) : 0;
    } while (reaped < 0 && errno == EINTR);
    has_left = is_closed && WIFEXITED(sp->status);
    spawner_free(sp);
    return has_left;
}

void ep_spawner_reaped(struct ep_spawner *sp, int64_t pid, int status)
{
    if (sp == NULL || sp->pid != pid)
        return;
    sp->pid = 0;
    sp->status = status;
}

void ep_spawner_leave(struct ep_spawner *sp)
{
    if (sp == NULL)
        return;
    (void)end_send(sp, EP_SPAWN_LEAVE);
    spawner_free(sp);
}
