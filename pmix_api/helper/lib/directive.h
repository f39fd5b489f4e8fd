/* The directives of PMIx_Spawn, for a job or for one of its programs. */
#ifndef PMIX_API_HELPER_LIB_DIRECTIVE_H
#define PMIX_API_HELPER_LIB_DIRECTIVE_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* What is to be started, and strings that were made for it. */
struct px_lib_start {
    struct job_request request;
    char **made; /* owned, as its strings */
    size_t made_count;
    uint32_t output, needed; /* flags of output.c: asked for, and required */
};

/* Keeps a block of malloc as long as the start. NULL: it is NULL, or memory is
 * out; it is freed then. */
char *px_start_keep(struct px_lib_start *start, char *text);

/* A change behind the others of a program, which are NULL or a block of malloc.
 * YES or NO_RESOURCE. */
enum px_lib_answer px_start_env(struct job_wish *app, struct job_env change);

/* Applies them, in order, to a program; those of the job to each.
 * NOT_SUPPORTED, and a note names it: one has a value that cannot be served, is
 * for a job and comes with an app, is one of refused.h, or is not known and
 * required. One that is not known otherwise is ignored. Also BAD_PARAM: a value
 * of another type; NO_RESOURCE. */
enum px_lib_answer px_start_apply(struct px_lib_start *start,
                                  struct job_wish *app, bool is_of_job,
                                  const pmix_info_t info[], size_t infos);

/* The key of the index-th one that is known; NULL: there are no more. */
const char *px_start_key(size_t index);

void px_start_fini(struct px_lib_start *start);

#endif
