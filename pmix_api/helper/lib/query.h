/* Queries of the tool. */
#ifndef PMIX_API_HELPER_LIB_QUERY_H
#define PMIX_API_HELPER_LIB_QUERY_H

#include <stdbool.h>

#include <pmix_server.h>

/* Prepares queries; to be called once, before libpmix is started. False:
 * libpmix lacks a function that is needed. */
bool px_query_open(void);

/* An upcall of the server's module. */
pmix_status_t px_query_upcall(pmix_proc_t *asker, pmix_query_t *queries,
                              size_t nqueries, pmix_info_cbfunc_t answer,
                              void *arg);

#endif
