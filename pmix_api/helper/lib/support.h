/* Answers queries for the attributes that are supported. */
#ifndef PMIX_API_HELPER_LIB_SUPPORT_H
#define PMIX_API_HELPER_LIB_SUPPORT_H

#include <stdbool.h>

#include <pmix_server.h>

/* The library's own PMIx_Query_info_nb. */
typedef pmix_status_t (*px_support_fn)(pmix_query_t *queries, size_t nqueries,
                                       pmix_info_cbfunc_t answer, void *arg);

/* Notes libpmix's own function; to be called once, before the other functions.
 */
void px_support_open(px_support_fn library);

/* True when the queries ask for supported attributes, and for nothing else. */
bool px_support_is(const pmix_query_t *queries, size_t nqueries);

/* Has libpmix answer, from the attributes that it supports itself and those
 * that px_attribute_register() has registered. Returns BAD_PARAM for a
 * qualifier that would crash libpmix; NOMEM; or PMIX_SUCCESS: the answer comes
 * later, in libpmix's thread. */
pmix_status_t px_support(pmix_query_t *queries, size_t nqueries,
                         pmix_info_cbfunc_t answer, void *arg);

#endif
