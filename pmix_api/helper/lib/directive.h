/* The directives of PMIx_Spawn, for a job or for one of its programs. */
#ifndef PMIX_API_HELPER_LIB_DIRECTIVE_H
#define PMIX_API_HELPER_LIB_DIRECTIVE_H

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

/* A request to start a job, and the strings that were allocated for it. */
struct px_lib_start {
    struct job_request request;
    char **made; /* owned, with the strings in it */
    size_t made_count;
    /* Bits of output.c: the flags that the tool asks for, and those that it
     * requires. */
    uint32_t output, needed;
    bool wants_events, wants_end; /* events of the job, or of its end alone */
};

/* Makes `start` the owner of `text`, a block of malloc(), and returns it.
 * Returns NULL when `text` is NULL, or when memory is out, and then frees the
 * block. */
char *px_start_keep(struct px_lib_start *start, char *text);

/* Adds a change to app->env, which must be NULL or a block of malloc(), after
 * the changes in it. Returns YES or NO_RESOURCE. */
enum px_lib_answer px_start_env(struct job_wish *app, struct job_env change);

/* Applies directives, in order, to a program; directives for the job are to be
 * applied to each program. Returns NOT_SUPPORTED, and a note names the
 * directive, when a directive has a value that cannot be served, is for a job
 * but is given for a program, is one of refused.h, or is unknown and required.
 * Other unknown directives are ignored. Returns BAD_PARAM for a value of a
 * wrong type; or NO_RESOURCE. */
enum px_lib_answer px_start_apply(struct px_lib_start *start,
                                  struct job_wish *app, bool is_of_job,
                                  const pmix_info_t info[], size_t infos);

/* The key of the index-th known directive; NULL: there are fewer. */
const char *px_start_key(size_t index);

void px_start_fini(struct px_lib_start *start);

#endif
