/* What a query is about, as its qualifiers say.
 *
 * All qualifiers of a query hold together, in whichever order they come. Hosts
 * are the exception: a query that names several is about all of them.
 */
#ifndef PMIX_API_HELPER_ABOUT_H
#define PMIX_API_HELPER_ABOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/table.h"

struct px_jobs;
struct px_jobs_entry;

struct px_about {
    /* NULL: the run's own job, which has been forgotten. */
    const struct px_jobs_entry *job;
    bool is_named; /* a qualifier names the job */
    /* The table of the job, set by the caller; NULL: it is not known. */
    const struct px_table *table;
    /* Borrowed: a qualifier that names hosts; NULL: all. */
    const struct px_lib_ask *hosts;
    uint32_t rank; /* PX_LIB_ALL: all ranks */
};

/* The index-th qualifier that is known; NULL: there is none of this index. */
const char *px_about_key(unsigned index);

/* Finds the job that the query is about. Returns PX_LIB_YES; PX_LIB_BAD_PARAM
 * for a value of another type, or when two jobs are named; or PX_LIB_NOT_FOUND.
 * O(qualifiers * jobs). */
enum px_lib_answer px_about_job(const struct px_lib_ask *ask,
                                const struct px_jobs *jobs,
                                struct px_about *about);
/* True when the other qualifiers cannot be read without the hosts of the
 * job. */
bool px_about_needs_table(const struct px_lib_ask *ask);
/* Reads the other qualifiers, with the job and its table in *about. Returns
 * PX_LIB_YES; PX_LIB_BAD_PARAM: two contradict each other; PX_LIB_NOT_FOUND:
 * there is no such process or host; PX_LIB_NOT_SUPPORTED: a qualifier is
 * required and not known. O(qualifiers * places). */
enum px_lib_answer px_about_read(const struct px_lib_ask *ask,
                                 struct px_about *about);

/* Gives the next place with processes that the query is about, cut to these
 * processes. *next is 0 for the first call. Only places on `host` are given, or
 * on all hosts when it is NULL. Returns false when there is none left.
 * O(qualifiers). */
bool px_about_next(const struct px_about *about, const char *host,
                   uint32_t *next, struct px_table_place *out);
/* The number of processes that px_about_next() gives in all. O(places). */
uint32_t px_about_count(const struct px_about *about, const char *host);

#endif
