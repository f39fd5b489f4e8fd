/* The directives of PMIx_Spawn about what becomes of a job's output. */
#ifndef PMIX_API_HELPER_LIB_OUTPUT_H
#define PMIX_API_HELPER_LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

struct px_lib_start;

/* The index-th of them; NULL: there are no more. */
const char *px_output_key(size_t index);
/* Is it one of them? */
bool px_output_knows(const pmix_info_t *info);
/* Does what it asks for. YES, or BAD_PARAM: a value of another type,
 * or another name of files than before. */
enum px_lib_answer px_output_apply(struct px_lib_start *start,
                                   struct job_wish *app,
                                   const pmix_info_t *info);
/* Fills in what the request says of output, once all are applied. A name of
 * files that is no full path begins in the directory of the first program. YES;
 * NO_RESOURCE; or, with a note, BAD_PARAM: they contradict each other. */
enum px_lib_answer px_output_settle(struct px_lib_start *start);

#endif
