/* Starts daemons and speaks the start-up text (endpoints/boot/boot.h) with
 * each.
 *
 * `local` runs xylemd on this machine; `ssh` runs the remote shell as
 * `RSH HOST COMMANDLINE`, RSH being split and quoted as a shell does, and
 * COMMANDLINE one string for the shell over there: `exec XYLEMD --boot`. The
 * environment of xylemd is that of this process; the session key goes over
 * stdin alone. `slurm` runs one command for all daemons, and each calls its
 * parent (call.h).
 *
 * All calls and callbacks happen in the thread of the event base; callbacks
 * come from the loop only, never from inside a call below but
 * ep_starter_begin. A callback may call anything but ep_starter_close and
 * ep_starter_begin. SIGPIPE must be ignored.
 *
 * Memory per daemon: its unsent text, one line each of its stdout (1 MiB at
 * most) and stderr (4 KiB), and until it is ready some KiB of what it said.
 * Descriptors: three per daemon, until it ended.
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
    EP_STARTER_MAX = 1 << 20, /* daemons, and the end of index */
    EP_STARTER_PARALLEL = 64, /* starting at once, when not said otherwise */
    EP_STARTER_JOBS = 3,      /* job numbers it takes from the spawner */
    EP_STARTER_HUNG_UP = -1,  /* no status: a daemon that called has gone */
    EP_STARTER_RUBBISH_MAX = 64 << 10 /* of a shell, before the first line */
};

struct ep_starter_events {
    /* The daemon listens. */
    void (*on_ready)(void *arg, uint32_t index,
                     const struct ep_boot_peer *peer);
    /* It tells what it does, or what a daemon beneath it does: the one whose
     * first node this is. */
    void (*on_note)(void *arg, uint32_t index, uint32_t node, const char *text);
    /* Before on_ready: this daemon will not come, and no further callback
     * but on_stderr is about it. The text is for the user; it names the host
     * and quotes what daemon and shell said. After on_ready: the daemon
     * reports a failure, its own or of one beneath, and may go on. */
    void (*on_error)(void *arg, uint32_t index, const char *text);
    /* Instead of on_error, before on_ready, where the daemon has not said a
     * word: no shell gets to it from here, in the time it had. time_ms is what
     * is left of that, at least 1; `first` is why somebody else had failed
     * before (ep_starter_take_over), or NULL. NULL: on_error is called. */
    void (*on_unreached)(void *arg, uint32_t index, uint32_t time_ms,
                         const char *text, const char *first);
    /* The daemon on this host, one of those of ep_starter_add_all, will not
     * come, as the command says: the reason, for the user (srun.h). Before
     * on_error or ep_starter_arrived; once or more. May be NULL. */
    void (*on_missing)(void *arg, uint32_t index, const char *host,
                       enum ep_srun_end end, const char *text);
    /* A daemon beneath this one listens here. May be NULL. */
    void (*on_peer)(void *arg, uint32_t index, const struct ep_boot_peer *peer);
    /* This daemon, or one beneath it, asks to have the daemon of a node
     * started, as on_unreached has told it. May be NULL. */
    void (*on_start)(void *arg, uint32_t index, uint32_t node, uint32_t time_ms,
                     const char *text);
    /* A line of its stderr, or one of its stdout that is none of ours; cut
     * into pieces of 4 KiB when longer. Before on_ready the last lines are
     * held back, so that on_error can quote them. Raw: may hold anything but
     * a newline or NUL. */
    void (*on_stderr)(void *arg, uint32_t index, const char *host,
                      const char *line);
    /* After on_ready: it ended; status as from waitpid. */
    void (*on_exit)(void *arg, uint32_t index, int status);
    /* The spawner has died, and every daemon with it. Only after
     * ep_starter_attach. */
    void (*on_lost)(void *arg);
};

struct ep_starter_cfg {
    struct event_base *base;    /* borrowed, outlives the starter */
    struct ep_spawner *spawner; /* borrowed, outlives the starter */
    const char *xylemd;         /* its path; copied */
    const char *rsh;            /* NULL: `ssh` cannot be asked for; copied */
    uint32_t launch_timeout_ms; /* from the start of one until it is ready */
    bool is_not_last;      /* by ssh a daemon has half of its time: who is told
                              by on_unreached has others to ask */
    uint32_t max_parallel; /* 0: EP_STARTER_PARALLEL */
    uint32_t proc_first;   /* the spawner's processes proc_first + index */
    uint32_t job_first;    /* and jobs job_first ... are ours */
    const struct ep_starter_events *events; /* borrowed */
    void *arg;
};

/* Returns 0, OV_EINVAL (no xylemd, an empty rsh, no timeout) or OV_ENOMEM. */
int ep_starter_open(const struct ep_starter_cfg *cfg, struct ep_starter **out);

/* For a spawner that starts nothing but these daemons: takes its events. For
 * another its owner passes them on by ep_starter_failed and _exited.
 * Returns 0 or OV_ENOMEM. */
int ep_starter_attach(struct ep_starter *st);

/* Asks for one daemon, started as soon as fewer than max_parallel are on
 * their way. `index` is the caller's, not used before, best dense: the
 * starter's table grows up to it. `host` is copied; where daemons are on
 * this machine it may be NULL and is for messages only. `text` is what
 * ep_boot_encode made; it is taken over and *text is empty on success. Returns
 * 0, OV_EINVAL (index in use or too high, a host that is not fit for a command
 * line, a remote shell without rsh), OV_ECLOSED (after ep_starter_leave) or
 * OV_ENOMEM. What goes wrong later is told by on_error. */
int ep_starter_add(struct ep_starter *st, uint32_t index,
                   enum ep_launcher launcher, const char *host,
                   struct text_buf *text);

/* Starts at once those that would be started when the loop runs next, for a
 * caller that has other things to do until then; their time counts from there
 * on all the same. One that finds no pipe free waits for the loop. */
void ep_starter_begin(struct ep_starter *st);

/* Asks for the daemon that this configuration is of. Returns what
 * ep_boot_encode and ep_starter_add return, with `why` (EP_BOOT_WHY_MAX bytes)
 * in words. */
int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why);

/* Asks for the daemon of the node `child`, on its host, with what it needs to
 * know of the starter's own configuration; its index is its number. Returns
 * what ep_boot_config_child and ep_starter_add_config return, or OV_EINVAL (it
 * has no host). */
int ep_starter_add_child(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t child,
                         char *why);

/* The same for a node further beneath, whose parent in the tree has failed to
 * start it for the reason `words`; it has time_ms from its start on. */
int ep_starter_take_over(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t node,
                         uint32_t time_ms, const char *words, char *why);

/* Asks for the daemons of all nodes of this configuration by one command (see
 * launcher.h). They call; who is awaited here is said by ep_starter_expect.
 * Until ep_starter_arrived() the index counts as starting and its stderr is
 * held back. Returns what ep_boot_encode returns, OV_EINVAL, OV_ECLOSED or
 * OV_ENOMEM, with `why` in words. */
int ep_starter_add_all(struct ep_starter *st, uint32_t index,
                       const struct ep_boot_config *config, char *why);

/* A daemon that is started by somebody else will call, within the launch
 * timeout from now. Its end is told with EP_STARTER_HUNG_UP. Returns as
 * ep_starter_add. */
int ep_starter_expect(struct ep_starter *st, uint32_t index,
                      enum ep_launcher launcher, const char *host);

/* The one that is expected has called, and was proved: start-up text goes over
 * this connection, which does not block. fd is taken over in any case. Returns
 * 0, OV_ENOENT (nobody is expected, or not any more), OV_ECLOSED, OV_ESYS or
 * OV_ENOMEM. */
int ep_starter_called(struct ep_starter *st, uint32_t index, int fd);

/* All that the command of ep_starter_add_all was for have come. */
void ep_starter_arrived(struct ep_starter *st, uint32_t index);

/* Sends a `peer` line after what was sent before; never blocks.
 * Returns 0, OV_ENOENT (no such index), OV_ECLOSED (it ended, or its stdin
 * was closed) or OV_ENOMEM. */
int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer);

/* To each daemon that hears. */
void ep_starter_peer_all(struct ep_starter *st,
                         const struct ep_boot_peer *peer);

/* What the spawner tells of a process: the owner of the spawner passes its
 * events on. True when the process is the starter's. */
bool ep_starter_failed(struct ep_starter *st, uint32_t proc, const char *step,
                       int err);
bool ep_starter_exited(struct ep_starter *st, uint32_t proc, int status);

/* Closes the stdin of every daemon, and they leave; forgets those that wait.
 * Their lines and ends are told on, but no on_error follows. */
void ep_starter_leave(struct ep_starter *st);

/* Closes and frees everything without a callback. Processes that still live
 * are left to the spawner. NULL is allowed. */
void ep_starter_close(struct ep_starter *st);

#endif
