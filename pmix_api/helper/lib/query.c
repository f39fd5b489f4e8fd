/* Passes on queries of the tool.
 *
 * libpmix 4.2 answers queries of a tool by its own PMIx_Query_info_nb(). That
 * function searches a cache first, and crashes on some queries: those without a
 * key; those with a rank but no namespace; and those for supported attributes,
 * whose result it passes to the callback with a wrong argument. So a function
 * in this file replaces it, and queries bypass the cache. libpmix 5.0 does not
 * call PMIx_Query_info_nb() for tools; there, queries come by the upcall. */
#include "config.h"

#include "pmix_api/helper/lib/query.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/info.h"
#include "pmix_api/helper/lib/support.h"

#define OF_LIBRARY(name) __asm__(name) __attribute__((visibility("default")))

pmix_status_t px_query_instead(pmix_query_t *queries, size_t nqueries,
                               pmix_info_cbfunc_t answer, void *arg)
    OF_LIBRARY("PMIx_Query_info_nb");

struct query_call {
    struct px_lib_call base;
    struct px_lib_query query;
    struct px_lib_ask *asks;         /* owned */
    struct px_lib_info **qualifiers; /* owned, as is each item */
    pmix_info_t *info;               /* owned: the answer */
    size_t infos;
    pmix_info_cbfunc_t answer;
    void *arg;
};

bool px_query_open(void)
{
    void *found = dlsym(RTLD_NEXT, "PMIx_Query_info_nb");
    px_support_fn library;

    memcpy(&library, &found, sizeof(library));
    px_support_open(library);
    return found != NULL;
}

/* --- the answer to a query */

static void end(void *arg)
{
    struct query_call *call = arg;

    if (call->info != NULL)
        PMIX_INFO_FREE(call->info, call->infos);
    for (size_t i = 0; call->qualifiers != NULL && i < call->query.count; i++)
        free(call->qualifiers[i]);
    free(call->qualifiers);
    free(call->asks);
    free(call);
}

/* Called when libpmix has read the answer, which can be freed now. */
static void on_turn(pmix_status_t status, void *arg)
{
    struct query_call *call = arg;

    (void)status;
    call->answer(px_call_status(call->base.answer), call->info, call->infos,
                 call->arg, end, call);
}

static void give(struct px_lib_call *call)
{
    px_call_turn(on_turn, call);
}

void px_lib_answer_query(void *arg, enum px_lib_answer answer,
                         const struct px_lib_info *infos, size_t count)
{
    struct query_call *call = arg;

    call->info = px_info_make(infos, count);
    if (call->info != NULL)
        call->infos = count;
    px_lib_answer(call, call->infos == count ? answer : PX_LIB_NO_RESOURCE);
}

/* --- the keys of a query */

static size_t count_keys(const pmix_query_t *from)
{
    size_t count = 0;

    while (from->keys != NULL && from->keys[count] != NULL)
        count++;
    return count;
}

static bool has_key(const pmix_query_t *queries, size_t nqueries)
{
    for (size_t i = 0; i < nqueries; i++) {
        if (count_keys(&queries[i]) > 0)
            return true;
    }
    return false;
}

static bool fill(struct query_call *call, const pmix_query_t *queries)
{
    size_t count = call->query.count;

    call->asks = calloc(count, sizeof(*call->asks));
    call->qualifiers = calloc(count, sizeof(*call->qualifiers));
    if (call->asks == NULL || call->qualifiers == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const pmix_query_t *from = &queries[i];

        call->qualifiers[i] = px_info_read(from->qualifiers, from->nqual);
        if (call->qualifiers[i] == NULL)
            return false;
        call->asks[i] = (struct px_lib_ask){
            .keys = (const char *const *)from->keys,
            .keys_count = count_keys(from),
            .qualifiers = call->qualifiers[i],
            .qualifiers_count = from->nqual,
        };
    }
    call->query.asks = call->asks;
    call->query.call = call;
    return true;
}

static void tell_query(void *arg)
{
    struct query_call *call = arg;

    px_caller()->events->on_query(px_caller()->arg, &call->query);
}

pmix_status_t px_query_upcall(pmix_proc_t *asker, pmix_query_t *queries,
                              size_t nqueries, pmix_info_cbfunc_t answer,
                              void *arg)
{
    struct query_call *call;

    (void)asker;
    if (px_support_is(queries, nqueries))
        return px_support(queries, nqueries, answer, arg);
    if (!has_key(queries, nqueries))
        return PMIX_ERR_BAD_PARAM;
    call = calloc(1, sizeof(*call));
    if (call == NULL)
        return PMIX_ERR_NOMEM;
    *call = (struct query_call){.base = {.give = give},
                                .query = {.count = nqueries},
                                .answer = answer,
                                .arg = arg};
    if (!fill(call, queries)) {
        end(call);
        return PMIX_ERR_NOMEM;
    }
    px_tell(tell_query, call);
    return PMIX_SUCCESS;
}

/* Replaces PMIx_Query_info_nb(). All queries are the tool's, as this process
 * itself makes none. */
pmix_status_t px_query_instead(pmix_query_t *queries, size_t nqueries,
                               pmix_info_cbfunc_t answer, void *arg)
{
    return px_query_upcall(NULL, queries, nqueries, answer, arg);
}
