/* The owner's side of the spawner: requests out, events in. */
#include "config.h"

#include "endpoints/spawn/spawner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/spawn/child.h"
#include "endpoints/spawn/msg.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum {
    MESSAGES_PER_CALL = 64, /* before other events have their turn */
    RETRY_MS = 5,           /* too many descriptors in flight */
    CLOSE_MS = 10000,       /* how long close() waits for the killing */
};

struct ep_spawner {
    struct ep_wire wire;
    pid_t pid;
    struct event *readable; /* owned, NULL before attach */
    struct event *writable;
    struct event *retry;
    const struct ep_spawner_events *events; /* borrowed */
    void *arg;
    bool is_lost;
    bool *closed; /* borrowed: set when closed during a callback */
};

static int fork_child(int fds[2], unsigned grace_ms, pid_t *pid)
{
    sigset_t all;
    sigset_t before;

    /* A ^C must not hit the child before it has left our process group. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *pid = fork();
    if (*pid == 0)
        ep_spawn_child_run(fds[1], grace_ms);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return *pid < 0 ? OV_ESYS : 0;
}

int ep_spawner_open(unsigned grace_ms, struct ep_spawner **out)
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
    rc = fork_child(fds, grace_ms, &sp->pid);
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

int64_t ep_spawner_pid(const struct ep_spawner *sp)
{
    return sp->pid;
}

/* Sends what it can and asks to be called again for the rest. */
static int flush(struct ep_spawner *sp)
{
    static const struct timeval retry = {.tv_usec = RETRY_MS * 1000};
    int rc = ep_wire_flush(&sp->wire);

    if (rc == OV_EAGAIN && sp->writable != NULL)
        event_add(sp->writable, NULL);
    else if (rc == OV_EFULL && sp->retry != NULL)
        event_add(sp->retry, &retry);
    else if (rc == OV_ECLOSED)
        ep_wire_clear(&sp->wire); /* reading tells when it is lost */
    return rc == OV_EAGAIN || rc == OV_EFULL ? 0 : rc;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    flush(arg);
}

static int tell(struct ep_spawner *sp, const struct ep_wire_in *in)
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
        sp->events->on_exit(sp->arg, report.proc, (int)report.value);
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
            rc = tell(sp, &in);
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

/* Posts a message, or passes on why there is none. */
static int post(struct ep_spawner *sp, struct ep_wire_out *out, int err,
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

    return post(sp, out, err, NULL, 0);
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
    return post(sp, out, err, fds, count);
}

static int signal_send(struct ep_spawner *sp, const struct ep_signal *sig,
                       int signo)
{
    int err;
    struct ep_wire_out *out;

    if (signo < 1 || signo > 64)
        return OV_EINVAL;
    out = ep_signal_encode(sig, &err);
    return post(sp, out, err, NULL, 0);
}

int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo)
{
    struct ep_signal sig = {.proc = proc, .signo = (uint8_t)signo};

    return signal_send(sp, &sig, signo);
}

int ep_spawner_signal_all(struct ep_spawner *sp, int signo)
{
    struct ep_signal sig = {.signo = (uint8_t)signo, .to_all = true};

    return signal_send(sp, &sig, signo);
}

static int end_send(struct ep_spawner *sp, enum ep_spawn_msg type)
{
    struct ep_wire_out *out = ep_wire_out_new((uint8_t)type, 0);

    return post(sp, out, OV_ENOMEM, NULL, 0);
}

int ep_spawner_end(struct ep_spawner *sp)
{
    return end_send(sp, EP_SPAWN_END);
}

/* Asks the spawner to leave and waits until its end of the socket closes,
 * which it does by leaving. */
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

void ep_spawner_close(struct ep_spawner *sp)
{
    pid_t reaped;

    if (sp == NULL)
        return;
    /* Its death ends at least the processes it started itself. Its number
     * cannot be another's: only we reap it. */
    if (sp->is_lost || !leave_wait(sp))
        kill(sp->pid, SIGKILL);
    do {
        reaped = waitpid(sp->pid, NULL, 0);
    } while (reaped < 0 && errno == EINTR);
    spawner_free(sp);
}

void ep_spawner_leave(struct ep_spawner *sp)
{
    if (sp != NULL)
        spawner_free(sp);
}
