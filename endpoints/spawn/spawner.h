/* The spawner: a small process that starts and ends all other processes.
 *
 * It is forked first in main, before threads, event bases and the fabric exist,
 * so that fork stays cheap and no descriptor of ours leaks into an application.
 * It starts remote shells and daemons for the launcher, and application
 * processes for a daemon. It is the subreaper of all that it starts, so no
 * process can escape when it ends them.
 *
 * Between fork and exec every process runs a shim, which sets: own session or
 * process group, death signal, limits as at our start, signal mask and handlers
 * reset, umask, directory, stdio, every other descriptor closed. A step that
 * fails, or exec, is reported with its name and errno. An exec from a slow file
 * system delays only its own process.
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

/* A value of grace_ms for processes that are to outlive the caller: the spawner
 * waits until the last of them, and the last of their descendants, has ended by
 * itself. When the caller has died without ep_spawner_leave, the spawner also
 * ends processes of the caller that it did not start itself (leftover.h), as
 * the caller's other spawner may have died with it. */
#define EP_SPAWNER_WAITS UINT_MAX

/* The number of a fourth descriptor in a process. It has one digit, because
 * shells know no others, and is the first free one, because programs do not
 * expect it to be closed. */
#define EP_SPAWN_FURTHER_FD 3

/* Settings that all processes of one job share; sent once. */
struct ep_spawn_job {
    struct job_program program; /* argv[0] is searched in PATH */
    const char *const *env;     /* complete; NULL-terminated, NAME=VALUE */
    bool new_session;           /* calls setsid() instead of setpgid() */
    struct job_manners manners; /* unknown ones are as at the spawner's start */
};

/* One process of a job. */
struct ep_spawn_proc {
    uint32_t job; /* the number given to ep_spawner_job */
    /* chosen by the caller; free again after on_failed or on_exit */
    uint32_t proc;
    /* Further arguments of this process, after the job's, NULL-terminated; or
     * NULL. */
    const char *const *args;
    /* Further variables NAME=VALUE of this process, NULL-terminated, which
     * replace the job's variables of the same names; or NULL. */
    const char *const *env;
    /* Processors to which the process is bound, as "0-3,8"; NULL: those of the
     * spawner. At least one of them must be on this machine. */
    const char *cpus;
    /* Descriptors for 0, 1, 2; -1: /dev/null. Borrowed: the caller closes its
     * copies when the call has returned. The caller sets their blocking
     * mode. */
    int stdio[3];
    int further; /* like stdio, for EP_SPAWN_FURTHER_FD; 0: the process has none
                  */
};

/* All callbacks come from the event loop; each may call any function below,
 * even ep_spawner_close. */
struct ep_spawner_events {
    /* exec has succeeded. (A process that is killed in the middle of exec is
     * reported as started and then as ended by that signal.) */
    void (*on_started)(void *arg, uint32_t proc, int64_t pid);
    /* The job's directory cannot be entered, for this errno, but the job does
     * not require it: on_started or on_failed follows. May be NULL. */
    void (*on_elsewhere)(void *arg, uint32_t proc, int err);
    /* The process could not be started: the step that failed and its errno.
     * on_exit is not called. Steps: "start" (ENOENT: no such job, EEXIST:
     * number in use, ECANCELED: ep_spawner_end is not done), "memory",
     * "descriptors" (limit reached), "fork", "session", "stdio", "limits",
     * "bind", "chdir", "env", "exec". */
    void (*on_failed)(void *arg, uint32_t proc, const char *step, int err);
    /* The process has ended; status as from waitpid. at_ns is the time of
     * ep_clock_ns() at which the spawner has seen that: it may be long ago when
     * this process was given no processor. Always after on_started. */
    void (*on_exit)(void *arg, uint32_t proc, int status, uint64_t at_ns);
    /* ep_spawner_end is done: no process that the spawner has started, and no
     * descendant of one, is alive (but setuid programs that may not be killed
     * are given up after 2 s). Called once for several requests that
     * overlap. */
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

/* Makes a spawner when threads, loop and fabric may exist already: runs the
 * program `path` with EP_SPAWNER_OPTION, which must call ep_spawner_become at
 * once. Its grace is 0. Returns 0, OV_ESYS or OV_ENOMEM. */
int ep_spawner_exec(const char *path, struct ep_spawner **out);
_Noreturn void ep_spawner_become(void);
#define EP_SPAWNER_OPTION "--spawner"

/* Returns the pid of the spawner, for statistics. */
int64_t ep_spawner_pid(const struct ep_spawner *sp);

/* Connects the spawner to the event loop; callbacks come from now on. `events`
 * is borrowed. Sends the requests made before. Returns 0 or OV_ENOMEM (close
 * the spawner then). */
int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg);

/* The first describes job number `job`, which the caller chooses; an earlier
 * job of that number is replaced. Strings are copied. With a cwd the processes'
 * PWD is set to it. The second starts a process of a job. Requests are queued
 * without a bound on their total, but each is at most 8 MiB (the kernel's limit
 * for exec is lower, usually 2 MiB of strings: E2BIG). No request blocks. All
 * requests return 0, OV_EINVAL (too large, no program, a variable without "=",
 * a descriptor that is not open, a signal out of 1..64), OV_ENOMEM, OV_ESYS (no
 * descriptor is free to keep stdio until the socket has room) or OV_ECLOSED
 * (the spawner has died). */
int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what);
int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what);

/* Sends a signal to the process group of one process. A process that has ended
 * is no error. SIGTSTP and the like reach the group. Signals that come before
 * exec are kept for the program, except SIGKILL. */
int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo);

/* Kills all processes that the spawner has started, with all descendants, also
 * those that left their process group, until none is alive; then on_ended
 * comes. */
int ep_spawner_end(struct ep_spawner *sp);

/* Ends what dead daemons of this user have left on this machine (leftover.h). A
 * separate process does so a little later; nobody waits for it. */
int ep_spawner_sweep(struct ep_spawner *sp);

/* For an owner that calls wait() for any of its children: says that the child
 * `pid` has ended with this status. NULL is allowed. */
void ep_spawner_reaped(struct ep_spawner *sp, int64_t pid, int status);

/* Ends the spawner process (its descendants are killed first) and reaps it.
 * Waits for that, usually some milliseconds; after 10 s (processes that the
 * kernel cannot end) the spawner itself is killed. Returns false when it was
 * killed, or had died before: descendants may be left then. NULL is allowed. */
bool ep_spawner_close(struct ep_spawner *sp);

/* Frees the caller's part of the spawner and leaves the process running, as the
 * caller's death would: its processes may live on for the grace. The spawner
 * does not end anything else that the caller has left. Does not wait. NULL is
 * allowed. */
void ep_spawner_leave(struct ep_spawner *sp);

#endif
