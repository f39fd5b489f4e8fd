/* What a machine has room for: facts of the system, before anything starts.
 *
 * UINT64_MAX stands for what has no limit here, or cannot be read.
 */
#ifndef ENDPOINTS_SYS_ROOM_H
#define ENDPOINTS_SYS_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct ep_room {
    uint64_t pid_max;      /* numbers of processes and threads, */
    uint64_t threads_max;  /* and as many as the kernel makes, of all users; */
    uint64_t tasks;        /* that there are; 0: not known */
    uint64_t user_max;     /* processes and threads of this user (ulimit -u); */
    uint64_t user_tasks;   /* that there are, or more: see is_counted */
    uint64_t group_max;    /* of the control group that has least left; */
    uint64_t group_tasks;  /* that there are */
    uint64_t files;        /* open ones of a process: the hard limit */
    uint64_t memory_bytes; /* that can be had, swap included */
    uint64_t group_bytes;  /* the same within its control groups */
    uint32_t processors;   /* that this process may use, at least 1 */
    bool is_counted;       /* else user_tasks is all tasks that there are */
};

/* Reads what holds for this process and what it starts. Control groups are
 * those of version 2, from its own up to the highest that can be seen.
 * Cost: some small files. */
void ep_room_read(struct ep_room *out);

/* Counts the tasks of the user, who has fewer than there are. Cost: a look at
 * each process of the machine, which is why it is done only where it matters.
 */
void ep_room_count(struct ep_room *room);

/* The same from a copy of /proc and /sys that lies under `root`. The user's
 * processes, its limits and the processors are always those of this machine. */
void ep_room_read_at(const char *root, struct ep_room *out);

/* Processors that this process may use: those that it is bound to, fewer where
 * its control groups grant less time. At least 1. */
uint32_t ep_room_processors(void);

#endif
