/* What the processes of a job are, as the answer to DESCRIBE tells it.
 *
 * Memory: 8 bytes a process, 24 for neighbours on one host, and the names of
 * host and program where they are not those of the neighbours before.
 */
#ifndef PMIX_API_HELPER_TABLE_H
#define PMIX_API_HELPER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct job_door;
struct px_table;

/* Neighbours by rank, of one program, on one host. */
struct px_table_place {
    char *host, *program; /* the table's */
    uint32_t first, count;
};

/* Makes the table of a job with these processes, without anything known of
 * them. NULL: memory is out. */
struct px_table *px_table_open(uint32_t base, uint32_t size);
/* NULL is fine. */
void px_table_close(struct px_table *table);

/* Takes PLACE, PIDS, EXITS or DESCRIBED. Returns 0; OV_EPROTO where it is of
 * processes that the job has not, or OV_ENOMEM: it does not count then.
 * O(processes in it). */
int px_table_add(struct px_table *table, const struct job_door *msg);
/* Only the first place is of interest any more. */
void px_table_cut(struct px_table *table);

/* The index-th place, in the order in which they came; NULL: there are no more.
 * O(1). */
const struct px_table_place *px_table_at(const struct px_table *table,
                                         uint32_t index);
/* The words of the job's programs; "" before DESCRIBED. */
const char *px_table_command(const struct px_table *table);
/* The host of this number, when they are counted in the order of their names.
 * NULL: there is none, or memory is out. O(places log places). */
const char *px_table_host(const struct px_table *table, uint32_t node);

/* As its host counts it; 0: not started, or not told. O(1), as what follows. */
int32_t px_table_pid(const struct px_table *table, uint32_t rank);
/* Has it ended? *status, as of waitpid(), is how. */
bool px_table_exit(const struct px_table *table, uint32_t rank, int *status);
/* Have all? */
bool px_table_has_ended(const struct px_table *table);

#endif
