/* Queries for the attributes that are supported. */
#ifndef PMIX_API_HELPER_LIB_SUPPORT_H
#define PMIX_API_HELPER_LIB_SUPPORT_H

#include <stdbool.h>

#include <pmix_server.h>

/* The library's own PMIx_Query_info_nb. */
typedef pmix_status_t (*px_support_fn)(pmix_query_t *queries, size_t nqueries,
                                       pmix_info_cbfunc_t answer, void *arg);

/* Once, before the rest. */
void px_support_open(px_support_fn library);

/* Is it that, and nothing else, that is asked for? */
bool px_support_is(const pmix_query_t *queries, size_t nqueries);

/* The library answers, from what it supports itself and what
 * px_attribute_register() has told it. BAD_PARAM: a qualifier over which it
 * would fall; NOMEM; or PMIX_SUCCESS: the answer comes, in its thread. */
pmix_status_t px_support(pmix_query_t *queries, size_t nqueries,
                         pmix_info_cbfunc_t answer, void *arg);

#endif
