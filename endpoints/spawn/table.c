/* Two hash tables over the same entries: by pid and by the caller's number. */
#include "endpoints/spawn/table.h"

#include <stddef.h>
#include <stdlib.h>

static struct ep_spawned **pid_bucket(struct ep_spawn_table *table, pid_t pid)
{
    return &table->by_pid[(uint32_t)pid % EP_SPAWN_BUCKETS];
}

static struct ep_spawned **proc_bucket(struct ep_spawn_table *table,
                                       uint32_t proc)
{
    return &table->by_proc[proc % EP_SPAWN_BUCKETS];
}

struct ep_spawned *ep_spawn_table_add(struct ep_spawn_table *table,
                                      uint32_t proc, pid_t pid)
{
    struct ep_spawned **by_pid = pid_bucket(table, pid);
    struct ep_spawned **by_proc = proc_bucket(table, proc);
    struct ep_spawned *entry = malloc(sizeof(*entry));

    if (entry == NULL)
        return NULL;
    *entry = (struct ep_spawned){
        .next_pid = *by_pid,
        .next_proc = *by_proc,
        .proc = proc,
        .pid = pid,
        .report_fd = -1,
    };
    *by_pid = entry;
    *by_proc = entry;
    table->count++;
    return entry;
}

struct ep_spawned *ep_spawn_table_find_pid(struct ep_spawn_table *table,
                                           pid_t pid)
{
    struct ep_spawned *entry = *pid_bucket(table, pid);

    while (entry != NULL && entry->pid != pid)
        entry = entry->next_pid;
    return entry;
}

struct ep_spawned *ep_spawn_table_find_proc(struct ep_spawn_table *table,
                                            uint32_t proc)
{
    struct ep_spawned *entry = *proc_bucket(table, proc);

    while (entry != NULL && entry->proc != proc)
        entry = entry->next_proc;
    return entry;
}

void ep_spawn_table_forget(struct ep_spawn_table *table,
                           struct ep_spawned *entry)
{
    struct ep_spawned **at = proc_bucket(table, entry->proc);

    while (*at != NULL && *at != entry)
        at = &(*at)->next_proc;
    if (*at != NULL)
        *at = entry->next_proc;
}

void ep_spawn_table_remove(struct ep_spawn_table *table,
                           struct ep_spawned *entry)
{
    struct ep_spawned **at = pid_bucket(table, entry->pid);

    ep_spawn_table_forget(table, entry);
    while (*at != entry)
        at = &(*at)->next_pid;
    *at = entry->next_pid;
    table->count--;
    free(entry);
}
