/* Log messages that the tool wants shown to the user (PMIx_Log), and notes of
 * the helper itself.
 *
 * All in the loop's thread. Memory: 48 bytes for each request that has no
 * answer yet; the texts stay in libpmix's memory.
 */
#ifndef PMIX_API_HELPER_TEXTS_H
#define PMIX_API_HELPER_TEXTS_H

#include "pmix_api/helper/lib/lib.h"

struct job_door;
struct px_jobs;
struct px_texts;

enum {
    PX_TEXTS_BYTES = 60000,        /* the most bytes of one request */
    PX_TEXTS_MAX = 128,            /* the most requests that wait for their
                                      answer */
    PX_TEXTS_BYTES_MAX = 512 << 10 /* the most bytes of all these requests */
};

/* Opens the module; `jobs` is borrowed until px_texts_close(). Returns 0 or
 * OV_ENOMEM. */
int px_texts_open(const struct px_jobs *jobs, struct px_texts **out);
/* Closes the module. Requests that still wait get no answer. NULL is fine. */
void px_texts_close(struct px_texts *texts);

/* Handles a request for log messages. It is answered with PX_LIB_YES when all
 * texts are written; PX_LIB_BAD_PARAM: they are too long; or
 * PX_LIB_NO_RESOURCE: another limit above is reached, or the launcher or this
 * process has no room for the texts. O(bytes + requests). */
void px_texts_on_log(struct px_texts *texts, const struct px_lib_log *log);
/* Handles a message of the session; messages that are no answer to a request
 * are ignored. */
void px_texts_on_word(struct px_texts *texts, const struct job_door *msg);

#endif
