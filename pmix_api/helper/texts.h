/* Texts of the tool for the user: lines beside the output (PMIx_Log), and notes
 * of its helper.
 *
 * All in the loop's thread. Memory: 48 bytes for each request that is not
 * answered yet; its texts are libpmix's.
 */
#ifndef PMIX_API_HELPER_TEXTS_H
#define PMIX_API_HELPER_TEXTS_H

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_jobs;
struct px_texts;

enum {
    PX_TEXTS_BYTES = 60000,        /* of one request */
    PX_TEXTS_MAX = 128,            /* requests that are not written yet */
    PX_TEXTS_BYTES_MAX = 512 << 10 /* of all of these */
};

/* Borrows jobs until it is closed. Returns 0 or OV_ENOMEM. */
int px_texts_open(const struct px_jobs *jobs, struct px_texts **out);
/* Those that wait are not answered. NULL is fine. */
void px_texts_close(struct px_texts *texts);

/* Is answered PX_LIB_YES when all are written; else PX_LIB_BAD_PARAM: they are
 * too long; PX_LIB_NO_RESOURCE: the other bounds, or the launcher or this
 * process has no room. O(bytes + requests). */
void px_texts_on_log(struct px_texts *texts, const struct px_lib_log *log);
/* Any word of the session. */
void px_texts_on_word(struct px_texts *texts, const struct job_door *msg);

#endif
