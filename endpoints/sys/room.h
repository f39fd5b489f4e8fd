/* What a machine has room for: facts of the system, before anything starts.
 *
 * UINT64_MAX stands for what has no limit here, or cannot be read.
 */
#ifndef ENDPOINTS_SYS_ROOM_H
#define ENDPOINTS_SYS_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct ep_room {
    uint64_t pid_max;      /* process and thread numbers */
    uint64_t threads_max;  /* tasks that the kernel makes, for all users */
    uint64_t tasks;        /* tasks that there are; 0: not known */
    uint64_t user_max;     /* tasks that this user may have (ulimit -u) */
    uint64_t user_tasks;   /* that the user has, or more: see is_counted */
    uint64_t group_max;    /* tasks that the tightest control group may have */
    uint64_t group_tasks;  /* tasks that it has */
    uint64_t files;        /* that a process may open: the hard limit */
    uint64_t memory_bytes; /* available, with swap */
    uint64_t group_bytes;  /* that its control groups allow */
    uint32_t processors;   /* that this process may use, at least 1 */
    bool is_counted;       /* false: user_tasks counts all users' tasks */
};

/* Reads what holds for this process and what it starts. Control groups are
 * those of version 2, from its own up to the highest that can be seen. Cost:
 * some small files. */
void ep_room_read(struct ep_room *out);

/* Counts the tasks of the user alone. Cost: a look at each process of the
 * machine, so this is done only when it matters. */
void ep_room_count(struct ep_room *room);

/* Does what ep_room_read() does, from a copy of /proc and /sys that lies in
 * `root`. The user's processes, its limits and the processors are always those
 * of this machine. */
void ep_room_read_at(const char *root, struct ep_room *out);

/* Processors that this process may use: those that it is bound to, or fewer
 * when its control groups grant less time. At least 1. */
uint32_t ep_room_processors(void);

#endif
