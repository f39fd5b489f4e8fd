/* The directives of PMIx_Spawn about what becomes of a job's output. */
#ifndef PMIX_API_HELPER_LIB_OUTPUT_H
#define PMIX_API_HELPER_LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_server.h>

#include "pmix_api/helper/lib/lib.h"

struct px_lib_start;

/* The key of the index-th of these directives; NULL: there are fewer. */
const char *px_output_key(size_t index);
/* True when the info is one of these directives. */
bool px_output_knows(const pmix_info_t *info);
/* Applies a directive. Returns YES, or BAD_PARAM: the value has a wrong type,
 * or an earlier directive gave the files another name. */
enum px_lib_answer px_output_apply(struct px_lib_start *start,
                                   struct job_wish *app,
                                   const pmix_info_t *info);
/* Fills in the output part of the request, once all directives are applied. A
 * relative name of files is relative to the directory of the first program.
 * Returns YES; NO_RESOURCE; or, with a note, BAD_PARAM: the directives
 * contradict each other. */
enum px_lib_answer px_output_settle(struct px_lib_start *start);

#endif
