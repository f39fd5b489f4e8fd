/* Directives of pulls and pushes. */
#ifndef PMIX_API_HELPER_LIB_WISH_H
#define PMIX_API_HELPER_LIB_WISH_H

#include <pmix_server.h>

struct px_lib_wish;

/* Reads the directives of a pull. When a directive comes twice, the last
 * counts; a value that is not valid sets is_bad. *out borrows keys.
 * O(infos). */
void px_wish_read(const pmix_info_t info[], size_t infos,
                  struct px_lib_wish *out);

/* The directives of a push. The value of PMIX_IOF_PUSH_STDIN is a bool in the
 * standard, and the name of a process in RFC 0025. */
struct px_push_wish {
    bool is_collected, is_complete;
    const char *strange;       /* borrowed, or NULL */
    const pmix_proc_t *target; /* borrowed, or NULL */
};

void px_push_wish_read(const pmix_info_t info[], size_t infos,
                       struct px_push_wish *out);

/* The key of the index-th supported directive, for pulls and for pushes; NULL:
 * there are fewer. */
const char *px_wish_key(size_t index);
const char *px_push_key(size_t index);

#endif
