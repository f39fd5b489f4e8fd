/* Finds and kills the processes that a killed daemon or spawner has left
 * behind. */
#ifndef ENDPOINTS_SPAWN_LEFTOVER_H
#define ENDPOINTS_SPAWN_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "endpoints/spawn/mark.h"
#include "endpoints/spawn/procs.h"

/* Names the daemons whose processes are to be ended. */
struct ep_leftover {
    /* Borrowed; only its session and node are used. NULL: the processes of
     * every dead daemon of this user. */
    const struct ep_mark *of;
    /* With `of`, which is then the caller's mark: also all processes below the
     * caller that began after the caller, whatever mark they have. */
    bool is_below;
    /* A child of the caller that is not killed, nor anything below it; 0: there
     * is none. */
    pid_t spare;
};

/* Sends SIGKILL once to each living process that has the mark (see
 * ep_mark_is_on), and to all processes below these. Another call finds those
 * that are born meanwhile. Cost: one small file for each process of the
 * machine, and the environment of each process of this user. Returns 0, OV_ESYS
 * or OV_ENOMEM as ep_procs_read does; *out is then zero. */
int ep_leftover_kill(const struct ep_leftover *what,
                     struct ep_procs_killed *out);

/* `xylemd --sweep' prints this at its end, followed by the number of processes
 * that it has found. */
#define EP_SWEPT "xylemd-swept"

/* Calls ep_leftover_kill repeatedly until two calls find nothing that could be
 * killed, or the time has passed. Returns how often it has sent SIGKILL (a
 * process may be counted by more than one call), or the error of
 * ep_leftover_kill. */
int ep_leftover_end(const struct ep_leftover *what, unsigned limit_ms);

/* Forks a process that ends what dead daemons of this user have left, and then
 * exits. It is no child of the caller but of the caller's parent, so that it
 * does not depend on the caller's end. With `owner` 0 it runs at a low
 * priority, begins a quarter of a second later, and is not made when another
 * session's is already at work for this user. With any other owner it begins
 * when the process `owner` has ended. The caller must have one thread. Returns
 * the process number; 0: another one is at work; or -1. */
pid_t ep_leftover_fork(pid_t owner);

#endif
