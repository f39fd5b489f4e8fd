/* The job, hosts and processes that a query is about, read from its qualifiers.
 *
 * A query is about what fits all its qualifiers; their order does not matter.
 * Hosts are the exception: a query that names several hosts is about all of
 * them.
 */
#ifndef PMIX_API_HELPER_ABOUT_H
#define PMIX_API_HELPER_ABOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"
#include "endpoints/client/table.h"

struct px_jobs;
struct px_jobs_entry;

struct px_about {
    /* The job. NULL: the session's own job, when the session has forgotten it.
     */
    const struct px_jobs_entry *job;
    bool is_named; /* a qualifier names the job */
    /* The table of the job, set by the caller; NULL: it is not known. */
    const struct ep_table *table;
    /* Borrowed: the query, when one of its qualifiers names hosts; NULL: all
     * hosts. */
    const struct px_lib_ask *hosts;
    uint32_t rank; /* PX_LIB_ALL: all ranks */
};

/* The key of the index-th known qualifier; NULL: there are fewer. */
const char *px_about_key(unsigned index);

/* Finds the job that the query is about. Returns PX_LIB_YES; PX_LIB_BAD_PARAM
 * for a value of another type, or when two jobs are named; or PX_LIB_NOT_FOUND.
 * O(qualifiers * jobs). */
enum px_lib_answer px_about_job(const struct px_lib_ask *ask,
                                const struct px_jobs *jobs,
                                struct px_about *about);
/* True when px_about_read() needs the table of the job, because qualifiers name
 * hosts. */
bool px_about_needs_table(const struct px_lib_ask *ask);
/* Reads the other qualifiers, with the job and its table in *about. Returns
 * PX_LIB_YES; PX_LIB_BAD_PARAM: two contradict each other; PX_LIB_NOT_FOUND:
 * there is no such process or host; PX_LIB_NOT_SUPPORTED: a qualifier is
 * required and not known. O(qualifiers * places). */
enum px_lib_answer px_about_read(const struct px_lib_ask *ask,
                                 struct px_about *about);

/* Finds the next place of the table with processes that the query is about;
 * *out names only these processes of the place. *next must be 0 for the first
 * call. With `host` only places on that host are found, with NULL those on all
 * hosts. Returns false when there is no further place. O(qualifiers). */
bool px_about_next(const struct px_about *about, const char *host,
                   uint32_t *next, struct ep_table_place *out);
/* The number of processes in all places that px_about_next() finds. O(places).
 */
uint32_t px_about_count(const struct px_about *about, const char *host);

#endif
