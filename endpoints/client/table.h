/* The table of a job's processes, made from the session's answer to DESCRIBE.
 *
 * Memory: 8 bytes a process; 24 for each place (neighbouring ranks of one
 * program on one host); and the names of host and program where they differ
 * from those of the place before.
 */
#ifndef ENDPOINTS_CLIENT_TABLE_H
#define ENDPOINTS_CLIENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct job_door;
struct ep_table;

/* A place: neighbouring ranks of one program on one host. */
struct ep_table_place {
    char *host, *program; /* owned by the table */
    uint32_t first, count;
};

/* Makes an empty table for a job of `size` processes. NULL: memory is out. */
struct ep_table *ep_table_open(uint32_t base, uint32_t size);
/* NULL is fine. */
void ep_table_close(struct ep_table *table);

/* Adds what a message PLACE, PIDS, EXITS or DESCRIBED says. Returns 0;
 * OV_EPROTO when the message is about processes that the job does not have; or
 * OV_ENOMEM. After an error the table is as before. O(processes in the
 * message). */
int ep_table_add(struct ep_table *table, const struct job_door *msg);
/* Drops everything in the table except its first place. */
void ep_table_cut(struct ep_table *table);

/* The index-th place, in the order of the messages; NULL: there are fewer.
 * O(1). */
const struct ep_table_place *ep_table_at(const struct ep_table *table,
                                         uint32_t index);
/* The command lines of the job's programs; "" before DESCRIBED. */
const char *ep_table_command(const struct ep_table *table);
/* The name of the node-th host, when hosts are sorted by name. NULL: there are
 * fewer, or memory is out. O(places log places). */
const char *ep_table_host(const struct ep_table *table, uint32_t node);

/* The pid of the process on its host; 0: it was not started, or is not known.
 * This function and the next two are O(1). */
int32_t ep_table_pid(const struct ep_table *table, uint32_t rank);
/* True when the process has ended; *status is then as from waitpid(). */
bool ep_table_exit(const struct ep_table *table, uint32_t rank, int *status);
/* True when all processes have ended. */
bool ep_table_has_ended(const struct ep_table *table);

#endif
