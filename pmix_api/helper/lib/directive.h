/* The directives of PMIx_Spawn, for a job or for one of its programs. */
#ifndef PMIX_API_HELPER_LIB_DIRECTIVE_H
#define PMIX_API_HELPER_LIB_DIRECTIVE_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* What is to be started, and the strings that were made for it. */
struct px_lib_start {
    struct job_request request;
    char **made; /* owned, as are its strings */
    size_t made_count;
    /* Flags of output.c that are asked for, and required. */
    uint32_t output, needed;
};

/* Keeps a block of malloc() as long as the start, and returns it. NULL: `text`
 * is NULL, or memory is out, and the block is freed. */
char *px_start_keep(struct px_lib_start *start, char *text);

/* Adds a change to the environment of a program, behind its other ones, which
 * are NULL or a block of malloc(). Returns YES or NO_RESOURCE. */
enum px_lib_answer px_start_env(struct job_wish *app, struct job_env change);

/* Applies directives, in order, to a program; those of the job are applied to
 * each program. Returns NOT_SUPPORTED, and a note names the directive, when one
 * has a value that cannot be served, is for a job and comes with an app, is one
 * of refused.h, or is required and not known. Any other unknown directive is
 * ignored. Returns BAD_PARAM for a value of another type, and NO_RESOURCE. */
enum px_lib_answer px_start_apply(struct px_lib_start *start,
                                  struct job_wish *app, bool is_of_job,
                                  const pmix_info_t info[], size_t infos);

/* The key of the index-th known directive; NULL: there is none of this
 * index. */
const char *px_start_key(size_t index);

void px_start_fini(struct px_lib_start *start);

#endif
