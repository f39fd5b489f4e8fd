/* Has libpmix answer queries for supported attributes.
 *
 * libpmix makes the answer, but passes another argument to the callback than
 * ours. So the arguments are kept here in a queue: answers come in the order of
 * the questions.
 */
#include "pmix_api/helper/lib/support.h"

#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/lib/flag.h"

struct asked {
    struct asked *next;
    pmix_info_cbfunc_t answer;
    void *arg;
};

/* Used in libpmix's thread only. */
static struct {
    px_support_fn library;
    struct asked *first, **last; /* owned, in order */
} support = {.last = &support.first};

void px_support_open(px_support_fn library)
{
    support.library = library;
}

bool px_support_is(const pmix_query_t *queries, size_t nqueries)
{
    for (size_t i = 0; i < nqueries; i++) {
        char **keys = queries[i].keys;

        if (keys == NULL || keys[0] == NULL || keys[1] != NULL ||
            strcmp(keys[0], PMIX_QUERY_ATTRIBUTE_SUPPORT) != 0)
            return false;
    }
    return nqueries > 0;
}

/* True when all values of the qualifiers are texts: libpmix treats every value
 * as a text. */
static bool is_sound(const pmix_query_t *query)
{
    static const char *const keys[] = {
        PMIX_CLIENT_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES, PMIX_HOST_ATTRIBUTES,
        PMIX_TOOL_ATTRIBUTES};

    for (size_t i = 0; i < query->nqual; i++) {
        const pmix_info_t *info = &query->qualifiers[i];

        if (px_value_has_key(info, keys, sizeof(keys) / sizeof(keys[0])) &&
            (info->value.type != PMIX_STRING ||
             info->value.data.string == NULL))
            return false;
    }
    return true;
}

/* Renames the results: the result of the n-th qualifier gets the n-th key as
 * its name. */
static bool name_results(pmix_query_t *query)
{
    char **keys = calloc(query->nqual + 2, sizeof(*keys));

    if (keys == NULL)
        return false;
    keys[0] = query->keys[0];
    free(query->keys);
    query->keys = keys;
    for (size_t i = 1; i < query->nqual; i++) {
        keys[i] = strdup(PMIX_QUERY_ATTRIBUTE_SUPPORT);
        if (keys[i] == NULL)
            return false;
    }
    return true;
}

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t infos,
                      void *arg, pmix_release_cbfunc_t release,
                      void *release_arg)
{
    struct asked *asked = support.first;

    (void)arg;
    support.first = asked->next;
    if (support.first == NULL)
        support.last = &support.first;
    asked->answer(status, info, infos, asked->arg, release, release_arg);
    free(asked);
}

static pmix_status_t ask_library(pmix_query_t *queries, size_t nqueries)
{
    for (size_t i = 0; i < nqueries; i++) {
        if (!is_sound(&queries[i]))
            return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < nqueries; i++) {
        if (!name_results(&queries[i]))
            return PMIX_ERR_NOMEM;
    }
    return support.library(queries, nqueries, on_answer, NULL);
}

pmix_status_t px_support(pmix_query_t *queries, size_t nqueries,
                         pmix_info_cbfunc_t answer, void *arg)
{
    struct asked *asked = calloc(1, sizeof(*asked));
    pmix_status_t rc;

    if (asked == NULL)
        return PMIX_ERR_NOMEM;
    asked->answer = answer;
    asked->arg = arg;
    rc = ask_library(queries, nqueries);
    if (rc != PMIX_SUCCESS) {
        free(asked);
        return rc;
    }
    *support.last = asked;
    support.last = &asked->next;
    return PMIX_SUCCESS;
}
