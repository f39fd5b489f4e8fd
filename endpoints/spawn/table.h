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
    int report_fd;      /* owned, -1 once the outcome of exec is known */
    uint32_t poll_slot; /* place among those polled while report_fd >= 0 */
    uint64_t held;      /* signals that wait for exec: bit signo - 1 */
    bool failed;        /* reported as such: no exit will be */
};

/* Zero is an empty table. */
struct ep_spawn_table {
    struct ep_spawned *by_pid[EP_SPAWN_BUCKETS];
    struct ep_spawned *by_proc[EP_SPAWN_BUCKETS];
    uint32_t count;
};

/* Adds an entry; NULL when memory is out. */
struct ep_spawned *ep_spawn_table_add(struct ep_spawn_table *table,
                                      uint32_t proc, pid_t pid);
struct ep_spawned *ep_spawn_table_find_pid(struct ep_spawn_table *table,
                                           pid_t pid);
/* Only entries that ep_spawn_table_forget did not touch. */
struct ep_spawned *ep_spawn_table_find_proc(struct ep_spawn_table *table,
                                            uint32_t proc);
/* The caller's number is free again, the pid is not reaped yet. Harmless
 * when repeated. */
void ep_spawn_table_forget(struct ep_spawn_table *table,
                           struct ep_spawned *entry);
/* Forgets and frees it. */
void ep_spawn_table_remove(struct ep_spawn_table *table,
                           struct ep_spawned *entry);

#endif
