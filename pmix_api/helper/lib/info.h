/* Converts infos and names of libpmix to the types of value.h, and back. */
#ifndef PMIX_API_HELPER_LIB_INFO_H
#define PMIX_API_HELPER_LIB_INFO_H

#include <pmix.h>

#include "pmix_api/helper/lib/value.h"

/* Copies a name. */
void px_info_name(const pmix_proc_t *proc, struct px_lib_name *out);

/* Copies names into a block of malloc(). NULL: memory is out. */
struct px_lib_name *px_info_names(const pmix_proc_t *procs, size_t count);

/* Converts infos into a block of malloc(), which also holds the names in them
 * and has room for at least one info; the result points into *info. NULL:
 * memory is out. O(count). */
struct px_lib_info *px_info_read(const pmix_info_t info[], size_t count);

/* Makes infos for libpmix, to be freed by PMIX_INFO_FREE(out, count). NULL: the
 * count is 0, or memory is out. O(all that is in them). */
pmix_info_t *px_info_make(const struct px_lib_info *infos, size_t count);

pmix_status_t px_info_status(enum px_lib_status status);

#endif
