/* The spawner process: one loop that serves its owner, its children and the
 * reports of shims that have not reached exec.
 *
 * It never waits for anything else: fork is quick, the result of each exec
 * arrives on a pipe of its own, and messages to the owner are queued. It is the
 * subreaper, so every orphan of the processes that it starts becomes its child:
 * when it has no child left, no descendant of these processes is left.
 */
#include "config.h"

#include "endpoints/spawn/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoints/spawn/leftover.h"
#include "endpoints/spawn/msg.h"
#include "endpoints/spawn/procs.h"
#include "endpoints/spawn/setup.h"
#include "endpoints/spawn/shim.h"
#include "endpoints/spawn/table.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    MESSAGES_PER_ROUND = 16, /* most messages between two checks of children */
    /* Wait before the next try when too many descriptors are in flight. */
    RETRY_MS = 5,
    ROUND_MS_MIN = 2, /* first time between two rounds of killing; doubles */
    ROUND_MS_MAX = 250,
    DENIED_MS = 2000, /* until processes of other users are given up */
};

enum state {
    STATE_RUNNING,
    STATE_GRACE,  /* the owner has died: its processes may end by themselves */
    STATE_ENDING, /* kills until no child is left */
    STATES
};

#define TO(state) (1u << STATE_##state)

static const uint8_t state_next[STATES] = {
    [STATE_RUNNING] = TO(GRACE) | TO(ENDING),
    [STATE_GRACE] = TO(ENDING),
    [STATE_ENDING] = TO(ENDING) | TO(RUNNING),
};

struct child {
    struct ep_wire wire;
    int signal_fd;
    pid_t self;
    pid_t owner;
    unsigned grace_ms;
    struct rlimit nofile; /* soft limit on descriptors at our start */
    struct ep_spawn_table table;
    struct ep_held_job *jobs; /* owned */
    uint32_t job_count;

    struct pollfd *polls; /* owned: for the owner, signals and report pipes */
    /* Owned: the entry of each report pipe, by its index in polls. */
    struct ep_spawned **polled;
    uint32_t poll_count;
    uint32_t poll_room;

    enum state state;
    bool is_left;    /* the owner has sent LEAVE */
    bool owner_gone; /* the spawner exits when all have ended, without ENDED */
    int64_t next_ms; /* when the grace, or the wait for a round, ends */
    int64_t denied_ms; /* since when only other users' processes are left */
    unsigned round_ms;
};

enum { SLOT_OWNER, SLOT_SIGNALS, SLOTS_FIXED };

static void state_move(struct child *c, enum state next)
{
    OV_ASSERT(state_next[c->state] & (1u << next));
    c->state = next;
}

static void end_begin(struct child *c)
{
    if (c->state != STATE_ENDING) {
        c->next_ms = ep_clock_ms();
        c->round_ms = ROUND_MS_MIN;
        c->denied_ms = 0;
    }
    state_move(c, STATE_ENDING);
}

/* Notes that the owner is lost for good, or that this process has a fault of
 * its own. */
static void owner_lost(struct child *c)
{
    ep_wire_fini(&c->wire);
    c->polls[SLOT_OWNER].fd = -1;
    c->owner_gone = true;
    if (c->state != STATE_RUNNING)
        return;
    state_move(c, STATE_GRACE);
    c->next_ms = ep_clock_ms() + c->grace_ms;
    /* Another process has to end what the owner has left, because no other
     * spawner or daemon may be there to do it. */
    if (c->grace_ms == EP_SPAWNER_WAITS && !c->is_left)
        (void)ep_leftover_fork(c->owner);
}

static void report(struct child *c, enum ep_spawn_msg type,
                   const struct ep_report *what)
{
    int err;
    struct ep_wire_out *out;

    if (c->wire.fd < 0)
        return;
    out = ep_report_encode(type, what, &err);
    if (out == NULL || ep_wire_post(&c->wire, out, NULL, 0) != 0)
        owner_lost(c);
}

static void report_failed(struct child *c, uint32_t proc, enum ep_step step,
                          int err)
{
    struct ep_report what = {
        .proc = proc, .step = (uint8_t)step, .value = (uint32_t)err};

    report(c, EP_SPAWN_FAILED, &what);
}

/* --- polled pipes */

static bool poll_room(struct child *c)
{
    uint32_t room = c->poll_room > 0 ? c->poll_room * 2 : 64;
    struct pollfd *polls;
    struct ep_spawned **polled;

    if (c->poll_count < c->poll_room)
        return true;
    polls = realloc(c->polls, room * sizeof(*polls));
    if (polls == NULL)
        return false;
    c->polls = polls;
    polled = realloc(c->polled, room * sizeof(struct ep_spawned *));
    if (polled == NULL)
        return false;
    c->polled = polled;
    c->poll_room = room;
    return true;
}

static void poll_add(struct child *c, int fd, struct ep_spawned *entry)
{
    c->polls[c->poll_count] = (struct pollfd){.fd = fd, .events = POLLIN};
    c->polled[c->poll_count] = entry;
    if (entry != NULL)
        entry->poll_slot = c->poll_count;
    c->poll_count++;
}

static void poll_remove(struct child *c, uint32_t slot)
{
    uint32_t last = --c->poll_count;

    c->polls[slot] = c->polls[last];
    c->polled[slot] = c->polled[last];
    c->polled[slot]->poll_slot = slot;
}

/* --- signals */

static void entry_kill(const struct ep_spawned *entry, int signo)
{
    /* Before exec, and when the process has changed its group, there is no
     * group of that number. */
    if (kill(-entry->pid, signo) != 0)
        kill(entry->pid, signo);
}

static void entry_signal(struct ep_spawned *entry, int signo)
{
    const uint64_t stops = 1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
                           1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
    uint64_t bit = 1ull << (signo - 1);

    if (entry->report_fd < 0 || signo == SIGKILL) {
        entry_kill(entry, signo);
        return;
    }
    /* Before exec the shim would get the signal, so the signal is kept. */
    if (signo == SIGCONT)
        entry->held &= ~stops;
    if (bit & stops)
        entry->held &= ~(1ull << (SIGCONT - 1));
    entry->held |= bit;
}

static void held_release(struct ep_spawned *entry)
{
    for (int signo = 1; entry->held != 0; signo++) {
        uint64_t bit = 1ull << (signo - 1);

        if (entry->held & bit)
            entry_kill(entry, signo);
        entry->held &= ~bit;
    }
}

static void on_signal(struct child *c, const struct ep_signal *sig)
{
    struct ep_spawned *entry = ep_spawn_table_find_proc(&c->table, sig->proc);

    if (entry != NULL)
        entry_signal(entry, sig->signo);
}

static void kill_all(const struct child *c)
{
    for (unsigned i = 0; i < EP_SPAWN_BUCKETS; i++) {
        for (const struct ep_spawned *entry = c->table.by_pid[i]; entry != NULL;
             entry = entry->next_pid)
            entry_kill(entry, SIGKILL);
    }
}

/* --- outcomes */

static void report_elsewhere(struct child *c, uint32_t proc, int err)
{
    report(c, EP_SPAWN_ELSEWHERE,
           &(struct ep_report){.proc = proc, .value = (uint32_t)err});
}

/* Reads a shim's report pipe: its reports, and the end of the pipe, which means
 * that exec has succeeded. */
static void outcome_read(struct child *c, struct ep_spawned *entry)
{
    struct ep_shim_report failed = {0};
    ssize_t got;

    do {
        if (failed.err < 0)
            report_elsewhere(c, entry->proc, -failed.err);
        failed.err = 0;
        got = read(entry->report_fd, &failed, sizeof(failed));
    } while ((got < 0 && errno == EINTR) || failed.err < 0);
    if (got < 0 && errno == EAGAIN)
        return;
    close(entry->report_fd);
    entry->report_fd = -1;
    poll_remove(c, entry->poll_slot);
    if (got == (ssize_t)sizeof(failed)) {
        report_failed(c, entry->proc, (enum ep_step)failed.step, failed.err);
        ep_spawn_table_forget(&c->table, entry);
        entry->held = 0;
        entry->failed = true;
        return;
    }
    report(c, EP_SPAWN_STARTED,
           &(struct ep_report){.proc = entry->proc,
                               .value = (uint32_t)entry->pid});
    held_release(entry);
}

static void entry_exited(struct child *c, struct ep_spawned *entry, int status)
{
    /* The shim is dead. If it has sent a report, the report is in the pipe. */
    if (entry->report_fd >= 0) {
        entry->held = 0;
        outcome_read(c, entry);
        OV_ASSERT(entry->report_fd < 0);
    }
    if (!entry->failed)
        report(c, EP_SPAWN_EXIT,
               &(struct ep_report){.proc = entry->proc,
                                   .value = (uint32_t)status,
                                   .at_ns = ep_clock_ns()});
    ep_spawn_table_remove(&c->table, entry);
}

/* Reaps all children that have ended, orphans included. Returns true when no
 * child is left. */
static bool reap(struct child *c)
{
    for (;;) {
        struct ep_spawned *entry;
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);

        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return pid < 0;
        entry = ep_spawn_table_find_pid(&c->table, pid);
        if (entry != NULL)
            entry_exited(c, entry, status);
    }
}

/* --- starting */

static struct ep_held_job *held_find(struct child *c, uint32_t job)
{
    for (uint32_t i = 0; i < c->job_count; i++) {
        if (c->jobs[i].job == job)
            return &c->jobs[i];
    }
    return NULL;
}

static int on_job(struct child *c, const struct ep_wire_in *in)
{
    struct ep_held_job job;
    struct ep_held_job *place;
    int rc = ep_spawn_job_decode(in, &job);

    if (rc != 0)
        return rc;
    place = held_find(c, job.job);
    if (place != NULL) {
        ep_spawn_job_fini(place);
        *place = job;
        return 0;
    }
    place = realloc(c->jobs, (c->job_count + 1) * sizeof(*place));
    if (place == NULL) {
        ep_spawn_job_fini(&job);
        return OV_ENOMEM;
    }
    c->jobs = place;
    c->jobs[c->job_count++] = job;
    return 0;
}

/* Forks one process. Returns 0, or an errno with the step that failed in
 * *step. */
static int proc_fork(struct child *c, struct ep_shim *shim, enum ep_step *step)
{
    struct ep_spawned *entry;
    int report_pipe[2];
    pid_t pid;

    *step = EP_STEP_MEMORY;
    if (!poll_room(c))
        return ENOMEM;
    *step = EP_STEP_DESCRIPTORS;
    if (pipe2(report_pipe, O_CLOEXEC) != 0)
        return errno;
    shim->report_fd = report_pipe[1];
    *step = EP_STEP_FORK;
    pid = fork();
    if (pid == 0)
        ep_shim_run(shim);
    close(report_pipe[1]);
    if (pid < 0) {
        int err = errno;

        close(report_pipe[0]);
        return err;
    }
    *step = EP_STEP_MEMORY;
    entry = ep_spawn_table_add(&c->table, shim->start->proc, pid);
    if (entry == NULL) {
        close(report_pipe[0]);
        kill(pid, SIGKILL);
        return ENOMEM;
    }
    fcntl(report_pipe[0], F_SETFL, O_NONBLOCK);
    entry->report_fd = report_pipe[0];
    poll_add(c, report_pipe[0], entry);
    return 0;
}

static int proc_start(struct child *c, const struct ep_wire_in *in,
                      const struct ep_start *start, enum ep_step *step)
{
    struct ep_shim shim = {
        .job = held_find(c, start->job),
        .start = start,
        .stdio = {-1, -1, -1},
        .spawner = c->self,
        .nofile = c->nofile,
    };
    unsigned used = 0;

    *step = EP_STEP_DESCRIPTORS;
    if (in->fds_lost)
        return EMFILE;
    for (unsigned i = 0; i < 3 && used < in->fd_count; i++) {
        if (start->mask & (1u << i))
            shim.stdio[i] = in->fds[used++];
    }
    if ((start->mask & 1u << EP_SPAWN_FURTHER_FD) && used < in->fd_count)
        shim.further = in->fds[used];
    *step = EP_STEP_START;
    if (shim.job == NULL)
        return ENOENT;
    if (c->state != STATE_RUNNING)
        return ECANCELED;
    if (ep_spawn_table_find_proc(&c->table, start->proc) != NULL)
        return EEXIST;
    return proc_fork(c, &shim, step);
}

static int on_start(struct child *c, const struct ep_wire_in *in)
{
    struct ep_start start;
    enum ep_step step;
    int rc = ep_start_decode(in, &start);
    int err;

    if (rc == 0) {
        err = proc_start(c, in, &start, &step);
        if (err != 0)
            report_failed(c, start.proc, step, err);
        ep_start_fini(&start);
    }
    for (unsigned i = 0; i < in->fd_count; i++)
        close(in->fds[i]);
    return rc;
}

static int on_message(struct child *c, const struct ep_wire_in *in)
{
    struct ep_signal sig;
    int rc;

    switch (in->type) {
    case EP_SPAWN_JOB:
        return on_job(c, in);
    case EP_SPAWN_START:
        return on_start(c, in);
    case EP_SPAWN_SIGNAL:
        rc = ep_signal_decode(in, &sig);
        if (rc == 0 && sig.signo > 0 && sig.signo <= 64)
            on_signal(c, &sig);
        return rc;
    case EP_SPAWN_CLOSE:
        end_begin(c);
        c->owner_gone = true;
        return 0;
    case EP_SPAWN_END:
        end_begin(c);
        return 0;
    case EP_SPAWN_LEAVE:
        c->is_left = true;
        return 0;
    case EP_SPAWN_SWEEP:
        (void)ep_leftover_fork(0);
        return 0;
    default:
        return OV_EPROTO;
    }
}

static void on_owner(struct child *c)
{
    for (unsigned i = 0; i < MESSAGES_PER_ROUND && c->wire.fd >= 0; i++) {
        struct ep_wire_in in;
        int rc = ep_wire_recv(&c->wire, &in);

        if (rc == OV_EAGAIN)
            return;
        if (rc == 0)
            rc = on_message(c, &in);
        if (rc != 0)
            owner_lost(c);
    }
}

/* --- the end */

/* One round of killing. Processes that we may not kill (setuid programs) are
 * waited for some time and then given up. Returns true when there is nothing to
 * wait for. */
static bool kill_round(struct child *c)
{
    struct ep_procs_killed found;
    int rc = ep_procs_kill_below(c->self, &found);
    int64_t now = ep_clock_ms();

    if (rc != 0)
        kill_all(c);
    if (rc != 0 || found.alive > 0 || found.denied == 0)
        c->denied_ms = 0;
    else if (c->denied_ms == 0)
        c->denied_ms = now;
    else if (now - c->denied_ms >= DENIED_MS)
        return true;
    c->next_ms = now + c->round_ms;
    c->round_ms *= 2;
    if (c->round_ms > ROUND_MS_MAX)
        c->round_ms = ROUND_MS_MAX;
    return false;
}

/* Goes on with the grace or with killing, as time and children require. Returns
 * true when the spawner has to exit. */
static bool advance_end(struct child *c, bool is_childless)
{
    bool is_due = c->state != STATE_RUNNING && ep_clock_ms() >= c->next_ms;

    if (c->state == STATE_GRACE && (is_due || is_childless))
        end_begin(c);
    if (c->state != STATE_ENDING)
        return false;
    if (!is_childless && (!is_due || !kill_round(c)))
        return false;
    if (c->owner_gone)
        return true;
    state_move(c, STATE_RUNNING);
    report(c, EP_SPAWN_ENDED, &(struct ep_report){0});
    return false;
}

/* Sends queued messages. Returns how long poll() may wait. */
static int timeout_ms(struct child *c)
{
    int64_t wait = -1;
    int rc = c->wire.fd >= 0 ? ep_wire_flush(&c->wire) : 0;

    if (rc == OV_ECLOSED)
        owner_lost(c);
    c->polls[SLOT_OWNER].events = rc == OV_EAGAIN ? POLLIN | POLLOUT : POLLIN;
    if (c->state != STATE_RUNNING) {
        wait = c->next_ms - ep_clock_ms();
        wait = wait < 0 ? 0 : wait;
    }
    if (rc == OV_EFULL && (wait < 0 || wait > RETRY_MS))
        wait = RETRY_MS;
    return wait > INT32_MAX ? INT32_MAX : (int)wait;
}

static void signals_drain(const struct child *c)
{
    struct signalfd_siginfo info[8];

    while (read(c->signal_fd, info, sizeof(info)) > 0)
        ;
}

static void loop(struct child *c)
{
    bool is_childless;

    do {
        int wait = timeout_ms(c);
        int ready = poll(c->polls, c->poll_count, wait);

        for (uint32_t i = c->poll_count; ready > 0 && i > SLOTS_FIXED; i--) {
            if (c->polls[i - 1].revents != 0)
                outcome_read(c, c->polled[i - 1]);
        }
        if (ready > 0 && c->polls[SLOT_SIGNALS].revents != 0)
            signals_drain(c);
        is_childless = reap(c);
        if (ready > 0 && c->polls[SLOT_OWNER].revents != 0) {
            on_owner(c);
            is_childless = reap(c);
        }
    } while (!advance_end(c, is_childless));
}

static int child_open(struct child *c, int fd)
{
    if (ep_spawn_setup(fd, &c->nofile, &c->signal_fd) != 0 || !poll_room(c) ||
        ep_wire_init(&c->wire, EP_SPAWN_OWNER_FD) != 0)
        return -1;
    poll_add(c, EP_SPAWN_OWNER_FD, NULL);
    poll_add(c, c->signal_fd, NULL);
    return 0;
}

_Noreturn void ep_spawn_child_run(int fd, unsigned grace_ms)
{
    static struct child child;

    child.self = getpid();
    child.owner = getppid();
    child.grace_ms = grace_ms;
    if (child_open(&child, fd) != 0)
        _exit(1);
    loop(&child);
    /* The last reports (all exits) are sent as far as the socket has room. */
    if (child.wire.fd >= 0)
        ep_wire_flush(&child.wire);
    _exit(0);
}
