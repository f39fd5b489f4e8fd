/* What tools ask about the job. */
#ifndef PMIX_API_HELPER_QUERY_H
#define PMIX_API_HELPER_QUERY_H

#include <pmix_server.h>

/* The upcall of the server's module. Answers before it returns, but what is
 * asked of helper/support.h. In the library's thread. */
pmix_status_t px_query(pmix_proc_t *asker, pmix_query_t *queries,
                       size_t nqueries, pmix_info_cbfunc_t answer, void *arg);

/* The index-th key, or further on qualifier, that is known; NULL: there are no
 * more. */
const char *px_query_key(size_t index);

#endif
