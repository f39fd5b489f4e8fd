/* What a query is about, as its qualifiers say.
 *
 * All of them hold, in whichever order they come; of hosts it is about all that
 * are named.
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
    const struct px_jobs_entry *job; /* NULL: the run's own, not known any more
                                      */
    bool is_named;                   /* the job */
    const struct px_table *table;    /* of the job, by the caller; NULL: not
                                        known */
    const struct px_lib_ask *hosts;  /* borrowed: it names some; NULL: all */
    uint32_t rank;                   /* PX_LIB_ALL: all */
};

/* The index-th qualifier that is known; NULL: there are no more. */
const char *px_about_key(unsigned index);

/* Which job. Returns PX_LIB_YES, or PX_LIB_BAD_PARAM for a value of another
 * type or two jobs, or PX_LIB_NOT_FOUND. O(qualifiers * jobs). */
enum px_lib_answer px_about_job(const struct px_lib_ask *ask,
                                const struct px_jobs *jobs,
                                struct px_about *about);
/* Does the rest need to know the hosts of the job? */
bool px_about_needs_table(const struct px_lib_ask *ask);
/* The rest, with the job and its table in *about. Returns PX_LIB_YES;
 * PX_LIB_BAD_PARAM: two contradict each other; PX_LIB_NOT_FOUND: there is no
 * such process or host; PX_LIB_NOT_SUPPORTED: a required one that nobody knows.
 * O(qualifiers * places). */
enum px_lib_answer px_about_read(const struct px_lib_ask *ask,
                                 struct px_about *about);

/* The next place with processes that it is about, cut to them; *next is 0 for
 * the first; O(qualifiers). With `host` in the place of NULL for all hosts.
 * False: there are no more. */
bool px_about_next(const struct px_about *about, const char *host,
                   uint32_t *next, struct px_table_place *out);
/* How many they are. O(places). */
uint32_t px_about_count(const struct px_about *about, const char *host);

#endif
