/* The processes of this machine, as one look at /proc shows them. */
#ifndef ENDPOINTS_SPAWN_PROCS_H
#define ENDPOINTS_SPAWN_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "endpoints/sys/process.h"

struct ep_procs_row {
    struct ep_process it;
    bool is_doomed; /* to be killed */
    bool is_spared; /* left alone, with all below it */
};

/* All zero is empty. */
struct ep_procs {
    struct ep_procs_row *at; /* owned, ordered by pid */
    size_t count;
    size_t room;
};

/* What was found when processes were killed. */
struct ep_procs_killed {
    unsigned alive;  /* ours and not yet zombies: got SIGKILL */
    unsigned denied; /* not yet zombies, but of another user (setuid) */
};

/* Reads all processes, none of them doomed. Cost: one small file of /proc for
 * each. Returns 0, OV_ESYS (/proc cannot be read, or belongs to another PID
 * namespace) or OV_ENOMEM; after an error it is empty. */
int ep_procs_read(struct ep_procs *procs);
void ep_procs_fini(struct ep_procs *procs);

/* Finds a process; NULL: it is not there. */
struct ep_procs_row *ep_procs_find(const struct ep_procs *procs, pid_t pid);

/* The first dooms the children of a process, whether it is listed itself or
 * not, except those that are spared; and then, as the second does, all that is
 * below what is doomed. */
void ep_procs_doom_below(struct ep_procs *procs, pid_t top);
void ep_procs_doom_all_below(struct ep_procs *procs);

/* Sends SIGKILL to all that are doomed. A number that has gone to another
 * process since the look is left alone. */
void ep_procs_kill(const struct ep_procs *procs, struct ep_procs_killed *out);

/* Reads, dooms and kills what is below a process. This is complete only when
 * that process is a subreaper, since orphans otherwise get another parent. What
 * was born meanwhile is for the next call. Returns what ep_procs_read returns;
 * *out is zero after an error. */
int ep_procs_kill_below(pid_t top, struct ep_procs_killed *out);

#endif
