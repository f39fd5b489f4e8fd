/* How much a machine has room for, as the system says before anything starts.
 *
 * UINT64_MAX stands for a number that has no limit here, or cannot be read.
 */
#ifndef ENDPOINTS_SYS_ROOM_H
#define ENDPOINTS_SYS_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct ep_room {
    uint64_t pid_max;      /* largest number of processes and threads */
    uint64_t threads_max;  /* tasks that the kernel allows for all users */
    uint64_t tasks;        /* tasks that exist; 0: not known */
    uint64_t user_max;     /* tasks that this user may have (ulimit -u) */
    uint64_t user_tasks;   /* tasks of this user, or more: see is_counted */
    uint64_t group_max;    /* tasks that the tightest control group may have */
    uint64_t group_tasks;  /* tasks in that control group */
    uint64_t files;        /* files that a process may open: the hard limit */
    uint64_t memory_bytes; /* memory available, with swap */
    uint64_t group_bytes;  /* memory that the control groups allow */
    uint32_t processors; /* processors that this process may use, at least 1 */
    bool is_counted;     /* false: user_tasks are those of all users */
};

/* Reads the room for this process and the processes that it starts. Control
 * groups are those of version 2, from this process's own up to the highest that
 * can be seen. Cost: some small files. */
void ep_room_read(struct ep_room *out);

/* Sets user_tasks to the tasks of this user alone. Cost: reading about each
 * process of the machine, so this is done only when it matters. */
void ep_room_count(struct ep_room *room);

/* Does what ep_room_read() does, from a copy of /proc and /sys in the folder
 * `root`. The user's processes, its limits and the processors are always those
 * of this machine. */
void ep_room_read_at(const char *root, struct ep_room *out);

/* Returns the number of processors that this process may use: those to which it
 * is bound, or fewer when its control groups grant less time. At least 1. */
uint32_t ep_room_processors(void);

#endif
