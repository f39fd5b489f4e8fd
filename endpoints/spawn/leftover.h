/* Finds and ends what a daemon or a spawner that was killed has left behind. */
#ifndef ENDPOINTS_SPAWN_LEFTOVER_H
#define ENDPOINTS_SPAWN_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "endpoints/spawn/mark.h"
#include "endpoints/spawn/procs.h"

/* Says which daemons' processes are looked for. */
struct ep_leftover {
    /* Borrowed; only session and node count. NULL: what every daemon of this
     * user that is dead has left. */
    const struct ep_mark *of;
    /* With `of`, which is then the caller's: also all below the caller that
     * began after it, whatever mark that has. */
    bool is_below;
    /* A child of the caller which, with all below it, is left alone; 0:
     * none. */
    pid_t spare;
};

/* Sends SIGKILL to all of it that lives: processes that have the mark (see
 * ep_mark_is_on), and what is below them. It looks once; what is born meanwhile
 * is for the next call. Cost: one small file for each process of the machine,
 * and the environment of each one of this user. Returns 0, OV_ESYS or OV_ENOMEM
 * as ep_procs_read does; *out is then zero. */
int ep_leftover_kill(const struct ep_leftover *what,
                     struct ep_procs_killed *out);

/* What `xylemd --sweep' prints at its end, in front of how many processes it
 * has found. */
#define EP_SWEPT "xylemd-swept"

/* Does this repeatedly until two looks find nothing that could be killed, or
 * the time is over. Returns how often it has sent SIGKILL (a process may still
 * be there at the next look), or what ep_leftover_kill returns. */
int ep_leftover_end(const struct ep_leftover *what, unsigned limit_ms);

/* Makes a process that does this for what dead daemons of this user have left,
 * and then ends. It is no child of the caller but of the caller's parent, so
 * that it does not depend on the caller's end. With `owner` 0 it runs at a low
 * priority, begins a quarter of a second later, and is not made when one of
 * another session is already at work for this user. With any other owner it
 * begins when that process has ended. For a process with one thread. Returns
 * its number; 0: another one is at work; or -1. */
pid_t ep_leftover_fork(pid_t owner);

#endif
