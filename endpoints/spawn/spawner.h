/* The spawner: a small process that starts and ends all others.
 *
 * It is forked first in main, before threads, event bases and the fabric exist,
 * so that fork stays cheap and no descriptor of ours leaks into an application.
 * It starts remote shells and daemons for the launcher, and application
 * processes for a daemon. It is the subreaper of all that it starts, so that no
 * process can escape the end.
 *
 * Between fork and exec every process passes a shim: own session or process
 * group, death signal, limits as at our start, signal mask and handlers reset,
 * umask, directory, stdio, every other descriptor closed. A failing step or
 * exec is reported with its name and errno. exec from a slow file system delays
 * nothing but that process.
 */
#ifndef ENDPOINTS_SPAWN_SPAWNER_H
#define ENDPOINTS_SPAWN_SPAWNER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/manners.h"
#include "job/program.h"

struct event_base;
struct ep_spawner;

/* A grace for processes that are to outlive the caller: the spawner waits until
 * the last of them, and the last of their descendants, has ended by itself. If
 * the caller has died without leaving, the spawner ends what the caller has
 * left elsewhere (leftover.h), as the caller's other spawner may have died with
 * it. */
#define EP_SPAWNER_WAITS UINT_MAX

/* The number that a fourth descriptor has in a process. It has one digit,
 * because shells know no others, and is the first free one, because programs do
 * not expect it to be closed. */
#define EP_SPAWN_FURTHER_FD 3

/* What all processes of one job have in common; sent once. */
struct ep_spawn_job {
    struct job_program program; /* argv[0] searched in PATH */
    const char *const *env;     /* NULL-terminated, NAME=VALUE, complete */
    bool new_session;           /* setsid() in place of setpgid() */
    struct job_manners manners; /* if not known: those of the spawner's start */
};

/* One process of a job. */
struct ep_spawn_proc {
    uint32_t job;  /* number given to ep_spawner_job */
    uint32_t proc; /* caller's number, free again after on_failed or on_exit */
    /* NULL, or NULL-terminated further arguments of this process, behind the
     * job's. */
    const char *const *args;
    /* NULL, or NULL-terminated NAME=VALUE of this process; replaces the job's
     * of the same name. */
    const char *const *env;
    /* Processors to bind it to, as "0-3,8"; NULL: those of the spawner. At
     * least one of them must be on this machine. */
    const char *cpus;
    /* Descriptors for 0, 1, 2; -1: /dev/null. Borrowed: the caller closes its
     * copies when the call has returned. The caller sets their blocking
     * mode. */
    int stdio[3];
    int further; /* likewise for EP_SPAWN_FURTHER_FD; 0: it has none */
};

/* All callbacks come from the event loop; each may call anything below, even
 * ep_spawner_close. */
struct ep_spawner_events {
    /* exec has succeeded. (A process that is killed in the middle of exec is
     * reported as started and then as ended by that signal.) */
    void (*on_started)(void *arg, uint32_t proc, int64_t pid);
    /* The job's directory cannot be entered, for that errno, but is optional:
     * on_started or on_failed follows. May be NULL. */
    void (*on_elsewhere)(void *arg, uint32_t proc, int err);
    /* The process could not be started: the step that failed and its errno. No
     * on_exit follows. Steps: "start" (ENOENT: no such job, EEXIST: number in
     * use, ECANCELED: ep_spawner_end is at work), "memory", "descriptors"
     * (limit reached), "fork", "session", "stdio", "limits", "bind", "chdir",
     * "env", "exec". */
    void (*on_failed)(void *arg, uint32_t proc, const char *step, int err);
    /* The process has ended; status as from waitpid. Always after
     * on_started. */
    void (*on_exit)(void *arg, uint32_t proc, int status);
    /* What ep_spawner_end asked for is done: nothing that the spawner has
     * started, and no descendant of that, is alive (but setuid programs that
     * may not be killed are given up after 2 s). Called once for several
     * requests that overlap. */
    void (*on_ended)(void *arg);
    /* The spawner itself has died: a fault of ours or of the system. The kernel
     * has killed the processes that it started; no further callback comes. */
    void (*on_lost)(void *arg);
};

/* Forks the spawner. Call it first in main, or at least before there are
 * threads and the fabric is open; the child closes every descriptor that it
 * inherits. A process may have several spawners: each ends and signals its own
 * processes. `grace_ms` says how long the processes may live on when the caller
 * dies, before they and all their descendants are killed (0: at once). Returns
 * 0, OV_ESYS or OV_ENOMEM. */
int ep_spawner_open(unsigned grace_ms, struct ep_spawner **out);

/* Makes a spawner when threads, loop and fabric may be there: a program,
 * `path`, is called with EP_SPAWNER_OPTION and calls ep_spawner_become at once.
 * Its grace is 0. Returns 0, OV_ESYS or OV_ENOMEM. */
int ep_spawner_exec(const char *path, struct ep_spawner **out);
_Noreturn void ep_spawner_become(void);
#define EP_SPAWNER_OPTION "--spawner"

/* The spawner's process number, for statistics. */
int64_t ep_spawner_pid(const struct ep_spawner *sp);

/* Connects the spawner to the event loop; callbacks start from here. `events`
 * is borrowed. Requests made before are sent now. Returns 0 or OV_ENOMEM (close
 * it then). */
int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg);

/* The first announces job number `job`, which the caller chooses; a job of that
 * number is replaced. Strings are copied. With a cwd the processes' PWD is set
 * to it. The second starts a process of a job. Requests are queued without
 * bound on the total, but each is at most 8 MiB (the kernel's limit for exec is
 * lower, usually 2 MiB of strings: E2BIG). None blocks. All requests return 0,
 * OV_EINVAL (too large, no program, an addition without "=", a descriptor that
 * is not open, a signal out of 1..64), OV_ENOMEM, OV_ESYS (no descriptor left
 * to keep stdio until the socket has room) or OV_ECLOSED (the spawner has
 * died). */
int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what);
int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what);

/* Sends a signal to the process group of one process. A process that is gone is
 * no error. SIGTSTP and the like reach the group. Signals that come before exec
 * are kept for the program, except SIGKILL. */
int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo);

/* Kills everything that it started with all descendants, also those that left
 * their process group, until none is alive; then on_ended comes. */
int ep_spawner_end(struct ep_spawner *sp);

/* Looks for what dead daemons of this user have left on this machine, and ends
 * it (leftover.h). A separate process, which is not waited for, does so a
 * little later. */
int ep_spawner_sweep(struct ep_spawner *sp);

/* For an owner that waits for any of its children: says that this one has
 * ended, with this status. NULL is allowed. */
void ep_spawner_reaped(struct ep_spawner *sp, int64_t pid, int status);

/* Ends the spawner process (its descendants are killed first) and reaps it.
 * Waits for that, usually some milliseconds; after 10 s (processes that the
 * kernel cannot end) the spawner itself is killed. Returns false when it was
 * killed, or had died before: descendants may be left then. NULL is allowed. */
bool ep_spawner_close(struct ep_spawner *sp);

/* Frees what the caller has of the spawner and leaves the process to itself, as
 * the caller's death would: its processes may live on for the grace. It does
 * not look for anything else that the caller has left. Does not wait. NULL is
 * allowed. */
void ep_spawner_leave(struct ep_spawner *sp);

#endif
