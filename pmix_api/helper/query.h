/* What tools ask about the job. */
#ifndef PMIX_API_HELPER_QUERY_H
#define PMIX_API_HELPER_QUERY_H

#include <pmix_server.h>

/* The upcall of the server's module; answers before it returns. */
pmix_status_t px_query(pmix_proc_t *asker, pmix_query_t *queries,
                       size_t nqueries, pmix_info_cbfunc_t answer, void *arg);

#endif
