/* Directives of pulls and pushes. */
#ifndef PMIX_API_HELPER_LIB_WISH_H
#define PMIX_API_HELPER_LIB_WISH_H

#include <pmix_server.h>

struct px_lib_wish;

/* Reads those of a pull; one that comes twice counts as the last, and one whose
 * value makes no sense makes the wish bad. Borrows keys. O(infos). */
void px_wish_read(const pmix_info_t info[], size_t infos,
                  struct px_lib_wish *out);

/* What those of a push say. The standard has PMIX_IOF_PUSH_STDIN as a bool, RFC
 * 0025 as a process. */
struct px_push_wish {
    bool is_collected, is_complete;
    const char *strange;       /* borrowed, or NULL */
    const pmix_proc_t *target; /* borrowed, or NULL */
};

void px_push_wish_read(const pmix_info_t info[], size_t infos,
                       struct px_push_wish *out);

/* The index-th that is served, of pulls and of pushes; NULL: there are no more.
 */
const char *px_wish_key(size_t index);
const char *px_push_key(size_t index);

#endif
