/* The spawner: a small process that starts and ends all others.
 *
 * It is forked first thing in main, before threads, event bases and the
 * fabric exist, so that fork stays cheap and no descriptor of ours leaks into
 * an application. It starts remote shells and daemons for the launcher, and
 * application processes for a daemon; it is the subreaper of all it starts,
 * so that nothing can hide from the end.
 *
 * Between fork and exec every process passes a shim: own session or process
 * group, death signal, limits as at our start, signal mask and handlers
 * reset, umask, directory, stdio, every other descriptor closed. A failing
 * step or exec is reported with its name and errno. exec from a slow file
 * system delays nothing but that process.
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
 * the caller has died, rather than left, it ends what that has left behind
 * elsewhere (leftover.h): the caller's other spawner may have died with it. */
#define EP_SPAWNER_WAITS UINT_MAX

/* The number that a fourth descriptor has in a process. With one digit, because
 * shells know no others; the first that is free, as nobody expects it closed.
 */
#define EP_SPAWN_FURTHER_FD 3

/* What all processes of one job have in common; sent once. */
struct ep_spawn_job {
    struct job_program program; /* argv[0] searched in PATH */
    const char *const *env;     /* NULL-terminated, NAME=VALUE, complete */
    bool new_session;           /* setsid rather than setpgid */
    struct job_manners manners; /* not known: as the spawner's start */
};

/* One process of a job. */
struct ep_spawn_proc {
    uint32_t job;  /* number given to ep_spawner_job */
    uint32_t proc; /* caller's number, free again after on_failed, on_exit */
    const char *const *args; /* NULL or NULL-terminated: further arguments of
                                this one, behind the job's */
    const char *const *env;  /* NULL or NULL-terminated NAME=VALUE for this one;
                                replaces the job's of the same name */
    const char *cpus; /* processors to bind it to, as "0-3,8"; NULL: as the
                         spawner is. One that this machine has is enough */
    int stdio[3];     /* descriptors for 0, 1, 2; -1: /dev/null. Borrowed: the
                         caller closes its copies when the call has returned.
                         Blocking mode is the caller's to set */
    int further;      /* the same for EP_SPAWN_FURTHER_FD; 0: it has none */
};

/* All callbacks come from the event loop; each may call anything below, also
 * ep_spawner_close. */
struct ep_spawner_events {
    /* exec succeeded. (A process killed in the middle of exec shows as
     * started and ended by that signal.) */
    void (*on_started)(void *arg, uint32_t proc, int64_t pid);
    /* The job's directory cannot be entered, for that errno, and may be done
     * without: on_started or on_failed follows. May be NULL. */
    void (*on_elsewhere)(void *arg, uint32_t proc, int err);
    /* It could not be started: the step that failed and its errno. No on_exit
     * follows. Steps: "start" (ENOENT: no such job, EEXIST: number in use,
     * ECANCELED: ep_spawner_end is at work), "memory", "descriptors" (limit
     * reached), "fork", "session", "stdio", "limits", "bind", "chdir", "env",
     * "exec". */
    void (*on_failed)(void *arg, uint32_t proc, const char *step, int err);
    /* It ended; status as from waitpid. Always after on_started. */
    void (*on_exit)(void *arg, uint32_t proc, int status);
    /* All that ep_spawner_end asked for is done: nothing started by the
     * spawner, no descendant of such, is alive (but setuid programs that may
     * not be killed are given up after 2 s). One call for several requests
     * that overlap. */
    void (*on_ended)(void *arg);
    /* The spawner itself died: a fault of ours or of the system. The kernel
     * has killed the processes it started; no further callback comes. */
    void (*on_lost)(void *arg);
};

/* Forks the spawner. Call first thing in main, or at least before there are
 * threads and the fabric is open; the child closes every descriptor that it
 * inherits. A process may have several: each ends and signals its own.
 * `grace_ms`: when the caller dies, how long its processes may live on before
 * they and all their descendants are killed (0: at once).
 * Returns 0, OV_ESYS or OV_ENOMEM.
 */
int ep_spawner_open(unsigned grace_ms, struct ep_spawner **out);

/* The same in the middle of things: threads, loop and fabric may be there, as
 * the process is made by a program, `path`, that is called with
 * EP_SPAWNER_OPTION and calls ep_spawner_become at once. Its grace is 0.
 * Returns 0, OV_ESYS or OV_ENOMEM. */
int ep_spawner_exec(const char *path, struct ep_spawner **out);
_Noreturn void ep_spawner_become(void);
#define EP_SPAWNER_OPTION "--spawner"

/* Its process number, for statistics. */
int64_t ep_spawner_pid(const struct ep_spawner *sp);

/* Connects it to the event loop; callbacks start from here. `events` is
 * borrowed. Requests made before are sent now. Returns 0 or OV_ENOMEM (close
 * it then). */
int ep_spawner_attach(struct ep_spawner *sp, struct event_base *base,
                      const struct ep_spawner_events *events, void *arg);

/* Announces job number `job` (caller's choice); a job of that number is
 * replaced. Strings are copied. With a cwd the processes' PWD is set to it.
 * Requests are queued without bound on the total but each is at most 8 MiB
 * (the kernel's limit for exec is lower, usually 2 MiB of strings: E2BIG).
 * None blocks. Errors of all requests: OV_EINVAL (too large, no program, an
 * addition without "=", a descriptor that is not open, a signal out of 1..64),
 * OV_ENOMEM, OV_ESYS (no descriptor left to keep stdio until the socket has
 * room), OV_ECLOSED (the spawner died).
 */
int ep_spawner_job(struct ep_spawner *sp, uint32_t job,
                   const struct ep_spawn_job *what);
int ep_spawner_start(struct ep_spawner *sp, const struct ep_spawn_proc *what);

/* Sends a signal to the process group of one process. One that has gone is not
 * an error. SIGTSTP and the like reach the group. What comes before exec is
 * kept for the program; SIGKILL is not kept. */
int ep_spawner_signal(struct ep_spawner *sp, uint32_t proc, int signo);

/* Kills everything it started with all descendants, also those that left
 * their process group, until none is alive; then on_ended. */
int ep_spawner_end(struct ep_spawner *sp);

/* What daemons of this user that run no more have left on this machine is
 * looked for and ended (leftover.h), by a process beside all others that is not
 * waited for, a little later. */
int ep_spawner_sweep(struct ep_spawner *sp);

/* For an owner that waits for any child of its own: this one has ended, with
 * this status. NULL is allowed. */
void ep_spawner_reaped(struct ep_spawner *sp, int64_t pid, int status);

/* Ends the spawner process (its descendants are killed first) and reaps it.
 * Waits for that, as a rule some milliseconds; after 10 s (processes that the
 * kernel cannot end) the spawner itself is killed. False when it was, or had
 * died before: descendants may be left then. NULL is allowed. */
bool ep_spawner_close(struct ep_spawner *sp);

/* Frees what is ours of it and leaves the process to itself, as our death
 * would: its processes may live on for the grace. Nothing else of ours is
 * looked for. Does not wait. NULL is allowed. */
void ep_spawner_leave(struct ep_spawner *sp);

#endif
