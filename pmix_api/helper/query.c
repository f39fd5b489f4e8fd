/* Answers to queries: namespaces, the state of the job, its processes. */
#include "pmix_api/helper/query.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix_api/helper/job.h"

/* The namespace that a query is about is ours, or it names none. */
static bool is_about_us(const pmix_query_t *query)
{
    for (size_t i = 0; i < query->nqual; i++) {
        if (PMIX_CHECK_KEY(&query->qualifiers[i], PMIX_NSPACE) &&
            strcmp(query->qualifiers[i].value.data.string, px_job_nspace()) !=
                0)
            return false;
    }
    return true;
}

static void load_table(pmix_info_t *out, const char *key, const char *host)
{
    pmix_data_array_t array = {.type = PMIX_PROC_INFO};
    pmix_proc_info_t *table;

    PMIX_PROC_INFO_CREATE(table, px_job_size());
    if (table == NULL)
        return;
    array.size = px_job_table(table, host);
    array.array = table;
    PMIX_INFO_LOAD(out, key, &array, PMIX_DATA_ARRAY);
    PMIX_PROC_INFO_FREE(table, px_job_size());
}

static void load_status(pmix_info_t *out)
{
    pmix_status_t status =
        px_job_has_ended() ? PMIX_EVENT_JOB_END : PMIX_EVENT_JOB_START;

    PMIX_INFO_LOAD(out, PMIX_QUERY_JOB_STATUS, &status, PMIX_STATUS);
}

static void load_spaces(pmix_info_t *out)
{
    PMIX_INFO_LOAD(out, PMIX_QUERY_NAMESPACES, px_job_nspace(), PMIX_STRING);
}

/* One key; false: we do not know it. */
static bool load(pmix_info_t *out, const char *key)
{
    char here[256] = "";

    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0) {
        load_spaces(out);
    } else if (strcmp(key, PMIX_QUERY_JOB_STATUS) == 0) {
        load_status(out);
    } else if (strcmp(key, PMIX_QUERY_PROC_TABLE) == 0) {
        load_table(out, key, NULL);
    } else if (strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0) {
        gethostname(here, sizeof(here) - 1);
        load_table(out, key, here);
    } else {
        return false;
    }
    return true;
}

/* The library frees what it was given when it calls this. */
static void release(void *arg)
{
    struct {
        pmix_info_t *info;
        size_t infos;
    } *given = arg;

    PMIX_INFO_FREE(given->info, given->infos);
    free(given);
}

static size_t count_keys(const pmix_query_t *queries, size_t nqueries)
{
    size_t count = 0;

    for (size_t i = 0; i < nqueries; i++) {
        for (char **key = queries[i].keys; key != NULL && *key != NULL; key++)
            count++;
    }
    return count;
}

/* Fills `out`, which has room for all; returns how many were known. */
static size_t collect(const pmix_query_t *queries, size_t nqueries,
                      pmix_info_t *out, bool *is_lost)
{
    size_t known = 0;

    *is_lost = false;
    for (size_t i = 0; i < nqueries; i++) {
        if (!is_about_us(&queries[i])) {
            *is_lost = true;
            continue;
        }
        for (char **key = queries[i].keys; key != NULL && *key != NULL; key++) {
            if (load(&out[known], *key))
                known++;
        }
    }
    return known;
}

pmix_status_t px_query(pmix_proc_t *asker, pmix_query_t *queries,
                       size_t nqueries, pmix_info_cbfunc_t answer, void *arg)
{
    size_t wanted = count_keys(queries, nqueries);
    struct {
        pmix_info_t *info;
        size_t infos;
    } *given = calloc(1, sizeof(*given));
    size_t known;
    bool is_lost;

    (void)asker;
    if (given == NULL || wanted == 0) {
        free(given);
        return wanted == 0 ? PMIX_ERR_BAD_PARAM : PMIX_ERR_NOMEM;
    }
    given->infos = wanted;
    PMIX_INFO_CREATE(given->info, wanted);
    known = collect(queries, nqueries, given->info, &is_lost);
    if (known == 0) {
        release(given);
        return is_lost ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NOT_SUPPORTED;
    }
    answer(known == wanted ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS,
           given->info, known, arg, release, given);
    return PMIX_SUCCESS;
}
