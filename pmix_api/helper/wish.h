/* The directives of a pull. */
#ifndef PMIX_API_HELPER_WISH_H
#define PMIX_API_HELPER_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

struct px_wish {
    bool copies, drops_oldest, has_cache;
    uint64_t cache_bytes; /* with has_cache */
    uint64_t buffer_bytes, buffer_s;
};

/* What is not said stays as it is; a directive that comes twice counts as the
 * last. All zero is the default. PMIX_SUCCESS, or BAD_PARAM: a value of another
 * type, or a number below 0; it is as if it was not said. O(infos). */
pmix_status_t px_wish_read(const pmix_info_t info[], size_t infos,
                           struct px_wish *wish);

/* PMIX_SUCCESS, or NOT_SUPPORTED: one is required that neither we nor the
 * tool's own library serve; it is noted. O(infos). */
pmix_status_t px_wish_judge(const pmix_info_t info[], size_t infos);

/* The index-th directive that we serve; NULL: there are no more. */
const char *px_wish_key(size_t index);

#endif
