/* Starts daemons and exchanges the start-up text (endpoints/boot/boot.h) with
 * each.
 *
 * `local` runs xylemd on this machine. `ssh` runs the remote shell as `RSH HOST
 * COMMANDLINE`; RSH is split and quoted as a shell does, and COMMANDLINE is one
 * string for the shell over there: `exec XYLEMD --boot`. xylemd gets the
 * environment of this process; the session key goes over stdin alone. `slurm`
 * runs one command for all daemons, and each calls its parent (call.h).
 *
 * All calls and callbacks happen in the thread of the event base. Callbacks
 * come from the loop only, never from inside a call below except
 * ep_starter_begin. A callback may call anything but ep_starter_close and
 * ep_starter_begin. SIGPIPE must be ignored.
 *
 * Memory per daemon: its unsent text, one line each of its stdout (1 MiB at
 * most) and stderr (4 KiB), and until it is ready some KiB of what it said.
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
    EP_STARTER_MAX = 1 << 20, /* daemons; each index is below this */
    EP_STARTER_PARALLEL = 64, /* starting at the same time, by default */
    EP_STARTER_JOBS = 3,      /* job numbers that it takes from the spawner */
    /* In place of a status: a daemon that had called is gone. */
    EP_STARTER_HUNG_UP = -1,
    /* The most of a shell's output before the first line of ours. */
    EP_STARTER_RUBBISH_MAX = 64 << 10
};

struct ep_starter_events {
    /* The daemon listens. */
    void (*on_ready)(void *arg, uint32_t index,
                     const struct ep_boot_peer *peer);
    /* Says what the daemon does, or what a daemon beneath it does: `node` is
     * that daemon's first one. */
    void (*on_note)(void *arg, uint32_t index, uint32_t node, const char *text);
    /* Before on_ready: this daemon will not come, and no callback but on_stderr
     * follows about it. The text is for the user; it names the host and quotes
     * what daemon and shell said. After on_ready: the daemon reports a failure
     * of its own or of a daemon beneath it, and may go on. */
    void (*on_error)(void *arg, uint32_t index, const char *text);
    /* Called in place of on_error, before on_ready, when the daemon has said
     * nothing at all: in the time it had, no shell reached it from here.
     * time_ms is what is left of its time, at least 1; `first` says why another
     * starter had failed before (ep_starter_take_over), or is NULL. When this
     * is NULL, on_error is called. */
    void (*on_unreached)(void *arg, uint32_t index, uint32_t time_ms,
                         const char *text, const char *first);
    /* The command says that the daemon on this host, one of ep_starter_add_all,
     * will not come: the reason, for the user (srun.h). Comes before on_error
     * or ep_starter_arrived, once or several times. May be NULL. */
    void (*on_missing)(void *arg, uint32_t index, const char *host,
                       enum ep_srun_end end, const char *text);
    /* A daemon beneath this one listens at this address. May be NULL. */
    void (*on_peer)(void *arg, uint32_t index, const struct ep_boot_peer *peer);
    /* This daemon, or one beneath it, asks to have the daemon of a node
     * started, which on_unreached has reported there. May be NULL. */
    void (*on_start)(void *arg, uint32_t index, uint32_t node, uint32_t time_ms,
                     const char *text);
    /* A line of its stderr, or a line of its stdout that is not part of the
     * protocol; cut into pieces of 4 KiB when longer. Before on_ready the last
     * lines are held back, so that on_error can quote them. The line is raw: it
     * may hold anything but a newline or NUL. */
    void (*on_stderr)(void *arg, uint32_t index, const char *host,
                      const char *line);
    /* After on_ready: the daemon has ended, with a status as from waitpid. */
    void (*on_exit)(void *arg, uint32_t index, int status);
    /* The spawner has died, and every daemon with it. Only after
     * ep_starter_attach. */
    void (*on_lost)(void *arg);
};

struct ep_starter_cfg {
    struct event_base *base;    /* borrowed, outlives the starter */
    struct ep_spawner *spawner; /* borrowed, outlives the starter */
    const char *xylemd;         /* its path; copied */
    const char *rsh;            /* NULL: `ssh` cannot be used; copied */
    /* From the start of a daemon until it is ready. */
    uint32_t launch_timeout_ms;
    /* A daemon started by ssh has only half of its time, because the owner that
     * hears on_unreached can ask others. */
    bool is_not_last;
    uint32_t max_parallel; /* 0: EP_STARTER_PARALLEL */
    /* Our processes in the spawner are proc_first + index. */
    uint32_t proc_first;
    /* Our jobs are job_first and the following ones. */
    uint32_t job_first;
    const struct ep_starter_events *events; /* borrowed */
    void *arg;
};

/* Returns 0, OV_EINVAL (no xylemd, an empty rsh, no timeout) or OV_ENOMEM. */
int ep_starter_open(const struct ep_starter_cfg *cfg, struct ep_starter **out);

/* Takes the events of the spawner, when that starts only these daemons.
 * Otherwise the spawner's owner passes its events on by ep_starter_failed and
 * ep_starter_exited. Returns 0 or OV_ENOMEM. */
int ep_starter_attach(struct ep_starter *st);

/* Asks for one daemon, which is started as soon as fewer than max_parallel are
 * starting. `index` is the caller's, must not be in use, and is best dense: the
 * starter's table grows up to it. `host` is copied; where daemons run on this
 * machine it may be NULL and is for messages only. `text` is what
 * ep_boot_encode made; on success it is taken over and *text is empty. Returns
 * 0, OV_EINVAL (index in use or too high, a host that is not fit for a command
 * line, a remote shell without rsh), OV_ECLOSED (after ep_starter_leave) or
 * OV_ENOMEM. What goes wrong later is reported by on_error. */
int ep_starter_add(struct ep_starter *st, uint32_t index,
                   enum ep_launcher launcher, const char *host,
                   struct text_buf *text);

/* Starts at once the daemons that would be started when the loop runs next, for
 * a caller that does other things first; their time still counts only from when
 * the loop runs. A daemon for which there is no pipe waits for the loop. */
void ep_starter_begin(struct ep_starter *st);

/* Asks for the daemon of this configuration. Returns what ep_boot_encode and
 * ep_starter_add return, with `why` (EP_BOOT_WHY_MAX bytes) in words. */
int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why);

/* Asks for the daemon of the node `child`, on its host, with what it needs of
 * the starter's own configuration; its index is the number of the node. Returns
 * what ep_boot_config_child and ep_starter_add_config return, or OV_EINVAL (the
 * node has no host). */
int ep_starter_add_child(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t child,
                         char *why);

/* Likewise for a node further down, whose parent in the tree has failed to
 * start it for the reason `words`; the daemon has time_ms from its start on. */
int ep_starter_take_over(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t node,
                         uint32_t time_ms, const char *words, char *why);

/* Asks for the daemons of all nodes of this configuration by one command (see
 * launcher.h). They call their parents; ep_starter_expect says which call here.
 * Until ep_starter_arrived() the index counts as starting, and its stderr is
 * held back. Returns what ep_boot_encode returns, OV_EINVAL, OV_ECLOSED or
 * OV_ENOMEM, with `why` in words. */
int ep_starter_add_all(struct ep_starter *st, uint32_t index,
                       const struct ep_boot_config *config, char *why);

/* Says that a daemon which another process starts will call within the launch
 * timeout from now. Its end is reported with EP_STARTER_HUNG_UP. Returns what
 * ep_starter_add returns. */
int ep_starter_expect(struct ep_starter *st, uint32_t index,
                      enum ep_launcher launcher, const char *host);

/* Says that the expected daemon has called and was proved: the start-up text
 * goes over this connection, which does not block. fd is taken over in any
 * case. Returns 0, OV_ENOENT (the daemon is not expected, or no longer),
 * OV_ECLOSED, OV_ESYS or OV_ENOMEM. */
int ep_starter_called(struct ep_starter *st, uint32_t index, int fd);

/* Says that all daemons of the command of ep_starter_add_all have come. */
void ep_starter_arrived(struct ep_starter *st, uint32_t index);

/* Sends a `peer` line after what was sent before; never blocks. Returns 0,
 * OV_ENOENT (no such index), OV_ECLOSED (the daemon ended, or its stdin was
 * closed) or OV_ENOMEM. */
int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer);

/* Sends a `peer` line to each daemon that can still be told. */
void ep_starter_peer_all(struct ep_starter *st,
                         const struct ep_boot_peer *peer);

/* What the spawner says about a process, passed on by the spawner's owner. True
 * when the process is the starter's. */
bool ep_starter_failed(struct ep_starter *st, uint32_t proc, const char *step,
                       int err);
bool ep_starter_exited(struct ep_starter *st, uint32_t proc, int status);

/* Closes the stdin of every daemon, so that they leave, and forgets those that
 * wait to be started. Their lines and ends are still reported, but no on_error
 * follows. */
void ep_starter_leave(struct ep_starter *st);

/* Closes and frees everything without a callback. Processes that still live are
 * left to the spawner. NULL is allowed. */
void ep_starter_close(struct ep_starter *st);

#endif
