/* The processes of this machine, as one reading of /proc shows them. */
#ifndef ENDPOINTS_SPAWN_PROCS_H
#define ENDPOINTS_SPAWN_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "endpoints/sys/process.h"

struct ep_procs_row {
    struct ep_process it;
    bool is_doomed; /* it is to be killed */
    bool is_spared; /* it is not killed, nor anything below it */
    bool is_anew;   /* it has run since it was read before, or was not read */
    /* ep_procs_read_again() keeps the two for whoever sets them: the bytes that
     * the process had moved when they were counted. */
    bool is_counted;
    uint64_t moved_bytes;
    uint64_t ran_ns; /* its processor time, as in process.h */
};

/* A list that is all zero is empty. */
struct ep_procs {
    struct ep_procs_row *at; /* owned, ordered by pid */
    size_t count;
    size_t room;
};

/* How many processes a kill has found. */
struct ep_procs_killed {
    unsigned alive;  /* processes that were alive and were sent SIGKILL */
    unsigned denied; /* processes that are alive, but belong to another user
                      * (setuid) */
};

/* Reads all processes; none is doomed. Cost: one small file of /proc for each.
 * Returns 0, OV_ESYS (/proc cannot be read, or belongs to another PID
 * namespace) or OV_ENOMEM; after an error the list is empty. */
int ep_procs_read(struct ep_procs *procs);
void ep_procs_fini(struct ep_procs *procs);

/* Brings a list up to date. A process that has not run since is not read again:
 * its row is as before, though it may have another parent, or be about to run.
 * Cost: a system call for each process, and a file for each that has run.
 * Returns what ep_procs_read returns. */
int ep_procs_read_again(struct ep_procs *procs);

/* Finds a process by its number; returns NULL when it is not in the list. */
struct ep_procs_row *ep_procs_find(const struct ep_procs *procs, pid_t pid);

/* The first dooms the children of `top` (which need not be in the list), except
 * those that are spared. Both then doom all descendants of doomed processes. */
void ep_procs_doom_below(struct ep_procs *procs, pid_t top);
void ep_procs_doom_all_below(struct ep_procs *procs);

/* Sends SIGKILL to all doomed processes. Does nothing when the number belongs
 * to another process by now. */
void ep_procs_kill(const struct ep_procs *procs, struct ep_procs_killed *out);

/* Reads all processes, and kills the descendants of `top`. This is complete
 * only when `top` is a subreaper, since orphans otherwise get another parent.
 * The next call finds processes that were born meanwhile. Returns what
 * ep_procs_read returns; *out is zero after an error. */
int ep_procs_kill_below(pid_t top, struct ep_procs_killed *out);

#endif
