/* Makes the answer to one key of a query. */
#ifndef PMIX_API_HELPER_REPLY_H
#define PMIX_API_HELPER_REPLY_H

#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_about;
struct px_jobs;
struct ep_table;

/* What must be known to make the answer to a key. */
enum px_reply_need {
    PX_REPLY_NEEDS_NOTHING, /* only the list of jobs, which every answer may
                               use */
    PX_REPLY_NEEDS_JOB,     /* the job that the query is about */
    PX_REPLY_NEEDS_TABLE,   /* the table of that job */
    PX_REPLY_NEEDS_PLACES,  /* the first place in the table of each job, or of
                               the job that the query names */
};

/* The tables that were fetched to answer a query. */
struct px_known {
    const struct px_jobs *jobs;
    const char *here; /* the name of the launcher's host */
    const struct px_known_job {
        uint32_t base;
        struct ep_table *table; /* NULL: the job is no longer known */
    } * at;
    uint32_t count;
};

/* The index-th known key; NULL: there are fewer. */
const char *px_reply_key(unsigned index);

/* What the answer to a key needs; a key that is not known needs nothing. */
enum px_reply_need px_reply_need(const char *key);

/* The table of the job with this base; NULL: it was not fetched, or the job is
 * no longer known. O(count). */
const struct ep_table *px_known_table(const struct px_known *known,
                                      uint32_t base);

/* Makes the answer to a key in *info. The caller must free *owned when it has
 * used the info; other memory of the info is borrowed from *known. Returns
 * PX_LIB_YES, or
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
