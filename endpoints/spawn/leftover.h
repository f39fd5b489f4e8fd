/* What a daemon or a spawner that was killed has left behind: found, and
 * ended. */
#ifndef ENDPOINTS_SPAWN_LEFTOVER_H
#define ENDPOINTS_SPAWN_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "endpoints/spawn/mark.h"
#include "endpoints/spawn/procs.h"

/* Says which daemons' processes are looked for. */
struct ep_leftover {
    const struct ep_mark *of; /* borrowed; session and node count. NULL: that of
                                 every daemon of this user that runs no more */
    bool is_below; /* with `of`, of the caller: and all below the caller that
                      began after it, whatever mark that has */
    pid_t spare;   /* a child of the caller for which, and for what is below it,
                      this does not hold; 0: none */
};

/* Sends SIGKILL to all of it that lives: processes that have the mark (see
 * ep_mark_is_on), and what is below them. One look; what is born meanwhile is
 * for the next one.
 * Cost: of each process of the machine one small file, of each one of this user
 * its environment, too.
 * Returns 0, OV_ESYS or OV_ENOMEM as ep_procs_read; *out is then zero. */
int ep_leftover_kill(const struct ep_leftover *what,
                     struct ep_procs_killed *out);

/* What `xylemd --sweep' prints at its end, before how many it has found. */
#define EP_SWEPT "xylemd-swept"

/* Does so again and again until two looks find nobody that could be killed, or
 * the time is over. Returns how often it has sent SIGKILL (a process may be
 * there yet at the next look), or what ep_leftover_kill does. */
int ep_leftover_end(const struct ep_leftover *what, unsigned limit_ms);

/* Makes a process that does this for what daemons of this user have left that
 * run no more, and ends. It is no child of the caller but of the caller's
 * parent: the caller's end does not depend on it. With `owner` 0 it works at a
 * low priority, begins a quarter of a second later, and is not made where one
 * of another session is already at work for this user. With any other owner it
 * begins when that process has ended.
 * For a process with one thread. Returns its number; 0: another one is at work;
 * or -1. */
pid_t ep_leftover_fork(pid_t owner);

#endif
