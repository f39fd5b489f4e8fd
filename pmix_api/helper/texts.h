/* Texts of the tool for the user: lines beside the output (PMIx_Log), and notes
 * of its helper.
 *
 * All in the loop's thread. Memory: 48 bytes for each request that has no
 * answer yet; its texts are libpmix's.
 */
#ifndef PMIX_API_HELPER_TEXTS_H
#define PMIX_API_HELPER_TEXTS_H

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_jobs;
struct px_texts;

enum {
    PX_TEXTS_BYTES = 60000,        /* of one request */
    PX_TEXTS_MAX = 128,            /* requests without an answer */
    PX_TEXTS_BYTES_MAX = 512 << 10 /* of all these requests */
};

/* Borrows jobs until it is closed. Returns 0 or OV_ENOMEM. */
int px_texts_open(const struct px_jobs *jobs, struct px_texts **out);
/* Leaves the requests that wait unanswered. NULL is fine. */
void px_texts_close(struct px_texts *texts);

/* The answer is PX_LIB_YES when all texts are written; else PX_LIB_BAD_PARAM:
 * they are too long; or PX_LIB_NO_RESOURCE: another bound is reached, or the
 * launcher or this process has no room. O(bytes + requests). */
void px_texts_on_log(struct px_texts *texts, const struct px_lib_log *log);
/* Takes any message of the session. */
void px_texts_on_word(struct px_texts *texts, const struct job_door *msg);

#endif
