/* The answers to the keys of queries, one by one. */
#ifndef PMIX_API_HELPER_REPLY_H
#define PMIX_API_HELPER_REPLY_H

#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_about;
struct px_jobs;
struct px_table;

/* What the answer to a key is made from. */
enum px_reply_need {
    PX_REPLY_NEEDS_NOTHING, /* but the jobs, as all others */
    PX_REPLY_NEEDS_JOB,     /* the job that it is about */
    PX_REPLY_NEEDS_TABLE,   /* the table of that job */
    PX_REPLY_NEEDS_PLACES,  /* the first place of each job, or of a named one */
};

/* What is known when a query is answered. */
struct px_known {
    const struct px_jobs *jobs;
    const char *here; /* the name of this host */
    const struct px_known_job {
        uint32_t base;
        struct px_table *table; /* NULL: the job is no longer known */
    } * at;
    uint32_t count;
};

/* The index-th key; NULL: there is none of this index. */
const char *px_reply_key(unsigned index);

/* What the answer to a key needs; a key that is not known needs nothing. */
enum px_reply_need px_reply_need(const char *key);

/* The table of this job; NULL: there is none. O(count). */
const struct px_table *px_known_table(const struct px_known *known,
                                      uint32_t base);

/* Makes the info for a key. *owned is to be freed when the info has been used;
 * the rest is borrowed from what is known. Returns PX_LIB_YES, or
 *     PX_LIB_NOT_SUPPORTED  the key is not known
 *     PX_LIB_NOT_FOUND      there is no such job or process, or it has not
 *                           ended
 *     PX_LIB_BAD_PARAM      it is about a process, and none is named
 *     PX_LIB_NO_RESOURCE    memory is out
 * O(processes in it + places). */
enum px_lib_answer px_reply(const char *key, const struct px_known *known,
                            const struct px_about *about,
                            struct px_lib_info *out, void **owned);

#endif
