/* Starts daemons and exchanges the start-up text (endpoints/boot/boot.h) with
 * each.
 *
 * `local` runs xylemd on this machine. `ssh` runs the remote shell as `RSH HOST
 * COMMANDLINE`: RSH is split and quoted as a shell does, and COMMANDLINE is one
 * string for the shell on HOST: `exec XYLEMD --boot`. The command gets the
 * environment of this process; the session key goes over stdin alone. `slurm`
 * runs one command for all daemons; each connects to its parent (call.h).
 *
 * All calls and callbacks happen in the thread of the event base. Callbacks
 * come from the loop only, never from inside a call below except
 * ep_starter_begin. A callback may call anything but ep_starter_close and
 * ep_starter_begin. SIGPIPE must be ignored.
 *
 * Memory per daemon: its unsent text, one line each of its stdout (1 MiB at
 * most) and stderr (4 KiB), and until it is ready some KiB of its output.
 * Descriptors: three per daemon until it ends.
 */
#ifndef ENDPOINTS_BOOT_STARTER_H
#define ENDPOINTS_BOOT_STARTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/srun.h"

struct event_base;
struct ep_spawner;
struct ep_starter;

enum {
    EP_STARTER_MAX = 1 << 20, /* most daemons; each index is below this */
    EP_STARTER_PARALLEL = 64, /* daemons starting at a time, by default */
    EP_STARTER_JOBS = 3,      /* numbers of jobs in the spawner, used by it */
    /* The `status` of on_exit when the connection to a daemon has ended. */
    EP_STARTER_HUNG_UP = -1,
    /* A shell may print at most this much before the daemon's first line. */
    EP_STARTER_RUBBISH_MAX = 64 << 10
};

struct ep_starter_events {
    /* The daemon reports that it listens. */
    void (*on_ready)(void *arg, uint32_t index,
                     const struct ep_boot_peer *peer);
    /* The daemon reports what it does, or what a daemon beneath it does: `node`
     * is the first node of the daemon that the note is about. */
    void (*on_note)(void *arg, uint32_t index, uint32_t node, const char *text);
    /* Before on_ready: this daemon will not come; only on_stderr may still be
     * called for it. The text is for the user; it names the host and quotes
     * what daemon and shell printed. After on_ready: the daemon reports a
     * failure of its own or of a daemon beneath it, and may go on. */
    void (*on_error)(void *arg, uint32_t index, const char *text);
    /* Called instead of on_error, before on_ready, when the daemon has printed
     * nothing at all within its time: no shell on this machine reached it.
     * time_ms is the rest of its launch timeout, at least 1; `first` says why
     * the starter before this one had failed (ep_starter_take_over), or is
     * NULL. May be NULL: on_error is then called. */
    void (*on_unreached)(void *arg, uint32_t index, uint32_t time_ms,
                         const char *text, const char *first);
    /* The command of ep_starter_add_all reports that the daemon on this host
     * will not come, with the reason for the user (srun.h). Called before
     * on_error or ep_starter_arrived, once or several times. May be NULL. */
    void (*on_missing)(void *arg, uint32_t index, const char *host,
                       enum ep_srun_end end, const char *text);
    /* A daemon beneath this one listens at this address. May be NULL. */
    void (*on_peer)(void *arg, uint32_t index, const struct ep_boot_peer *peer);
    /* This daemon, or a daemon beneath it, asks us to start the daemon of
     * `node`, for which on_unreached was called there. May be NULL. */
    void (*on_start)(void *arg, uint32_t index, uint32_t node, uint32_t time_ms,
                     const char *text);
    /* A line of the daemon's stderr, or a line of its stdout that is not part
     * of the protocol; cut into pieces of 4 KiB when longer. Before on_ready
     * the last lines are held back, so that on_error can quote them. The line
     * is raw: it may hold anything but a newline or NUL. */
    void (*on_stderr)(void *arg, uint32_t index, const char *host,
                      const char *line);
    /* After on_ready: the daemon has ended, with a status as from waitpid. */
    void (*on_exit)(void *arg, uint32_t index, int status);
    /* The spawner has died, and with it every daemon. Called only after
     * ep_starter_attach. */
    void (*on_lost)(void *arg);
};

struct ep_starter_cfg {
    struct event_base *base;    /* borrowed, outlives the starter */
    struct ep_spawner *spawner; /* borrowed, outlives the starter */
    const char *xylemd;         /* path of xylemd; copied */
    const char *rsh;            /* copied; NULL: `ssh` cannot be used */
    /* The time that a daemon has from its start until it is ready. */
    uint32_t launch_timeout_ms;
    /* Gives a daemon started by ssh only half of that time, because after
     * on_unreached the owner can ask another starter. */
    bool is_not_last;
    uint32_t max_parallel; /* 0 means EP_STARTER_PARALLEL */
    /* The number of a daemon's process in the spawner is proc_first + index. */
    uint32_t proc_first;
    /* The starter's jobs in the spawner have the numbers from job_first on. */
    uint32_t job_first;
    const struct ep_starter_events *events; /* borrowed */
    void *arg;
};

/* Opens a starter. Returns 0, OV_EINVAL (no xylemd, an empty rsh, no timeout)
 * or OV_ENOMEM. */
int ep_starter_open(const struct ep_starter_cfg *cfg, struct ep_starter **out);

/* Has the starter itself receive the events of a spawner that starts only these
 * daemons. Otherwise the spawner's owner passes its events on by
 * ep_starter_failed and ep_starter_exited. Returns 0 or OV_ENOMEM. */
int ep_starter_attach(struct ep_starter *st);

/* Asks for one daemon, which is started as soon as fewer than max_parallel are
 * starting. The caller chooses `index`, which must not be in use; small numbers
 * are best, as the starter's table grows up to it. `host` is copied; where
 * daemons run on this machine it may be NULL and is for messages only. `text`
 * is what ep_boot_encode made; on success the starter owns it and *text is
 * empty. Returns 0, OV_EINVAL (index in use or too high, a host that is not fit
 * for a command line, a remote shell without rsh), OV_ECLOSED (after
 * ep_starter_leave) or OV_ENOMEM. on_error reports what goes wrong later. */
int ep_starter_add(struct ep_starter *st, uint32_t index,
                   enum ep_launcher launcher, const char *host,
                   struct text_buf *text);

/* Starts now the daemons that would otherwise be started when the loop runs
 * next, although their time counts only from then. For a caller that does other
 * things first. A daemon for which no pipe can be made waits for the loop. */
void ep_starter_begin(struct ep_starter *st);

/* Asks for the daemon of this configuration. Returns what ep_boot_encode and
 * ep_starter_add return, with a text in `why` (EP_BOOT_WHY_MAX bytes). */
int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why);

/* Asks for the daemon of the node `child`, on that node's host. Its
 * configuration is made from `own`, the configuration of this process; its
 * index is the number of the node. Returns what ep_boot_config_child and
 * ep_starter_add_config return, or OV_EINVAL (the node has no host). */
int ep_starter_add_child(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t child,
                         char *why);

/* Asks for the daemon of a node further down, which its parent could not start,
 * for the reason `words`. The daemon has time_ms from its start on. */
int ep_starter_take_over(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t node,
                         uint32_t time_ms, const char *words, char *why);

/* Asks for the daemons of all nodes of this configuration by one command (see
 * launcher.h). The daemons connect to their parents; ep_starter_expect names
 * those that connect to this process. Until ep_starter_arrived() the index
 * counts as starting, and the command's stderr is held back. Returns what
 * ep_boot_encode returns, OV_EINVAL, OV_ECLOSED or OV_ENOMEM, with a text in
 * `why`. */
int ep_starter_add_all(struct ep_starter *st, uint32_t index,
                       const struct ep_boot_config *config, char *why);

/* Says that a daemon which another process starts will connect within the
 * launch timeout from now. on_exit reports its end with EP_STARTER_HUNG_UP.
 * Returns what ep_starter_add returns. */
int ep_starter_expect(struct ep_starter *st, uint32_t index,
                      enum ep_launcher launcher, const char *host);

/* Says that the expected daemon has connected and has proved itself: the
 * start-up text goes over this non-blocking connection. The starter owns fd,
 * also after an error. Returns 0, OV_ENOENT (the daemon is not expected, or no
 * longer), OV_ECLOSED, OV_ESYS or OV_ENOMEM. */
int ep_starter_called(struct ep_starter *st, uint32_t index, int fd);

/* Says that all daemons of ep_starter_add_all are in the tree. */
void ep_starter_arrived(struct ep_starter *st, uint32_t index);

/* Queues a `peer` line for the daemon; never blocks. Returns 0, OV_ENOENT (no
 * such index), OV_ECLOSED (the daemon ended, or its stdin was closed) or
 * OV_ENOMEM. */
int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer);

/* Queues a `peer` line for each daemon whose stdin is still open. */
void ep_starter_peer_all(struct ep_starter *st,
                         const struct ep_boot_peer *peer);

/* Take an event of the spawner about a process, which the spawner's owner
 * passes on. Return true when the process is the starter's. */
bool ep_starter_failed(struct ep_starter *st, uint32_t proc, const char *step,
                       int err);
bool ep_starter_exited(struct ep_starter *st, uint32_t proc, int status);

/* Closes the stdin of every daemon, so that they leave, and drops those that
 * were not started yet. The lines and ends of daemons are still reported, but
 * on_error is no longer called. */
void ep_starter_leave(struct ep_starter *st);

/* Closes and frees everything without a callback. The spawner keeps processes
 * that still live. NULL is allowed. */
void ep_starter_close(struct ep_starter *st);

#endif
