/* What the processes of a job are, as the answer to DESCRIBE tells it.
 *
 * Memory: 8 bytes a process; 24 for each run of neighbours on one host; and the
 * names of host and program where they differ from those of the run before.
 */
#ifndef PMIX_API_HELPER_TABLE_H
#define PMIX_API_HELPER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct job_door;
struct px_table;

/* A run of neighbours by rank, of one program, on one host. */
struct px_table_place {
    char *host, *program; /* the table's */
    uint32_t first, count;
};

/* Makes the table of a job with these processes; nothing is known of them yet.
 * NULL: memory is out. */
struct px_table *px_table_open(uint32_t base, uint32_t size);
/* NULL is fine. */
void px_table_close(struct px_table *table);

/* Takes PLACE, PIDS, EXITS or DESCRIBED. Returns 0; OV_EPROTO when it is about
 * processes that the job does not have; or OV_ENOMEM. After an error the
 * message has no effect. O(processes in it). */
int px_table_add(struct px_table *table, const struct job_door *msg);
/* Says that only the first place is needed from now on. */
void px_table_cut(struct px_table *table);

/* The index-th place, in the order in which they came; NULL: there is none of
 * this index. O(1). */
const struct px_table_place *px_table_at(const struct px_table *table,
                                         uint32_t index);
/* The words of the job's programs; "" before DESCRIBED. */
const char *px_table_command(const struct px_table *table);
/* The name of the host with this number, where hosts are counted in the order
 * of their names. NULL: there is none, or memory is out. O(places log
 * places). */
const char *px_table_host(const struct px_table *table, uint32_t node);

/* The process id on its host; 0: not started, or not known. O(1), as what
 * follows. */
int32_t px_table_pid(const struct px_table *table, uint32_t rank);
/* True when the process has ended; *status then says how, as waitpid() does. */
bool px_table_exit(const struct px_table *table, uint32_t rank, int *status);
/* True when all processes have ended. */
bool px_table_has_ended(const struct px_table *table);

#endif
