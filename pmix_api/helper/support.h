/* Queries for the attributes that are supported. */
#ifndef PMIX_API_HELPER_SUPPORT_H
#define PMIX_API_HELPER_SUPPORT_H

#include <stdbool.h>

#include <pmix_server.h>

/* Is it that, and nothing else, that is asked for? */
bool px_support_is(const pmix_query_t *queries, size_t nqueries);

/* The library answers, from what it supports itself and what
 * px_attributes_register() has told it. NOMEM, or PMIX_SUCCESS: the answer
 * comes, in the library's thread. */
pmix_status_t px_support(pmix_query_t *queries, size_t nqueries,
                         pmix_info_cbfunc_t answer, void *arg);

#endif
