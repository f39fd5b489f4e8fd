/* The directives of PMIx_Spawn, for a job or for one of its programs. */
#ifndef PMIX_API_HELPER_DIRECTIVE_H
#define PMIX_API_HELPER_DIRECTIVE_H

#include <pmix_server.h>

#include "pmix_api/spawn.h"

/* What is to be started, and strings that were made for it. */
struct px_plan {
    struct px_spawn spawn;
    char **made; /* owned, as its strings */
    size_t made_count;
    uint32_t needed; /* enum px_output_flag: required */
};

/* Keeps a block of malloc as long as the plan. NULL: it is NULL, or memory is
 * out; it is freed then. */
char *px_plan_keep(struct px_plan *plan, char *text);

/* A change behind the others of a program, which are NULL or a block of malloc.
 * PMIX_SUCCESS or NOMEM. */
pmix_status_t px_directive_env(struct job_wish *app, struct job_env change);

/* Applies them, in order, to a program; those of the job to each. One that is
 * not known, or is for a job and comes with an app, is ignored, unless it is
 * required: NOT_SUPPORTED, and a note names it. Also BAD_PARAM: a value of
 * another type; NOMEM. */
pmix_status_t px_directives(struct px_plan *plan, struct job_wish *app,
                            bool is_of_job, const pmix_info_t info[],
                            size_t infos);

/* The key of the index-th one that is known; NULL: there are no more. */
const char *px_directive_key(size_t index);

void px_plan_fini(struct px_plan *plan);

#endif
