/* The processes that the spawner has started and not yet reaped. */
#ifndef ENDPOINTS_SPAWN_TABLE_H
#define ENDPOINTS_SPAWN_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { EP_SPAWN_BUCKETS = 1024 };

struct ep_spawned {
    struct ep_spawned *next_pid;
    struct ep_spawned *next_proc;
    uint32_t proc;
    pid_t pid;
    int report_fd;      /* owned; -1 once the result of exec is known */
    uint32_t poll_slot; /* index among the polled pipes while report_fd >= 0 */
    uint64_t held;      /* signals kept until exec: bit signo - 1 */
    bool failed;        /* the process's failure was reported, so its exit will
                         * not be */
};

/* An all-zero table is empty. */
struct ep_spawn_table {
    struct ep_spawned *by_pid[EP_SPAWN_BUCKETS];
    struct ep_spawned *by_proc[EP_SPAWN_BUCKETS];
    uint32_t count;
};

/* Adds an entry; returns NULL when memory is out. */
struct ep_spawned *ep_spawn_table_add(struct ep_spawn_table *table,
                                      uint32_t proc, pid_t pid);
struct ep_spawned *ep_spawn_table_find_pid(struct ep_spawn_table *table,
                                           pid_t pid);
/* Finds only entries for which ep_spawn_table_forget was not called. */
struct ep_spawned *ep_spawn_table_find_proc(struct ep_spawn_table *table,
                                            uint32_t proc);
/* Makes the number `proc` free for another process, while this one is not
 * reaped yet. A repeated call does nothing. */
void ep_spawn_table_forget(struct ep_spawn_table *table,
                           struct ep_spawned *entry);
/* Removes the entry from the table and frees it. */
void ep_spawn_table_remove(struct ep_spawn_table *table,
                           struct ep_spawned *entry);

#endif
