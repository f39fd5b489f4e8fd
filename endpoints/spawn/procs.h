/* The processes of this machine, as /proc has them at one look. */
#ifndef ENDPOINTS_SPAWN_PROCS_H
#define ENDPOINTS_SPAWN_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "endpoints/sys/process.h"

struct ep_procs_row {
    struct ep_process it;
    bool is_doomed; /* to be killed */
    bool is_spared; /* neither it nor what is below it */
};

/* Zeroed it is empty. */
struct ep_procs {
    struct ep_procs_row *at; /* owned, by pid */
    size_t count;
    size_t room;
};

/* What a killing has met. */
struct ep_procs_killed {
    unsigned alive;  /* not yet zombies, ours to kill: SIGKILL was sent */
    unsigned denied; /* not yet zombies, but of another user (setuid) */
};

/* Reads them all, none of them doomed. Cost: one small file of /proc for each.
 * Returns 0, OV_ESYS (/proc cannot be read, or is another PID namespace's) or
 * OV_ENOMEM; it is then empty. */
int ep_procs_read(struct ep_procs *procs);
void ep_procs_fini(struct ep_procs *procs);

/* One of them, or NULL. */
struct ep_procs_row *ep_procs_find(const struct ep_procs *procs, pid_t pid);

/* Dooms the children of a process, whether it is among them itself or not, but
 * for those that are spared; and what is below all that are doomed. */
void ep_procs_doom_below(struct ep_procs *procs, pid_t top);
void ep_procs_doom_all_below(struct ep_procs *procs);

/* Sends SIGKILL to all that are doomed. A number that has gone to another
 * process since the look is left alone. */
void ep_procs_kill(const struct ep_procs *procs, struct ep_procs_killed *out);

/* All of it for what is below a process. Complete only where that is a
 * subreaper, since an orphan's parent is otherwise somebody else. What was born
 * meanwhile is for the next call. Returns what ep_procs_read returns; *out is
 * then zero. */
int ep_procs_kill_below(pid_t top, struct ep_procs_killed *out);

#endif
