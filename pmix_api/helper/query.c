/* Answers to queries: namespaces, the state of the job, its processes. */
#include "pmix_api/helper/query.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/attribute.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/space.h"
#include "pmix_api/helper/support.h"

/* What a query is about, as its qualifiers say. */
struct about {
    struct px_job job;
    bool is_named;    /* the job */
    const char *host; /* NULL: all */
    pmix_rank_t rank; /* PMIX_RANK_WILDCARD: all */
};

typedef pmix_status_t (*load_fn)(pmix_info_t *out, const char *key,
                                 const struct about *about);

/* --- qualifiers: all of them hold, in whichever order they come */

static pmix_status_t check_rank(struct about *about, pmix_rank_t rank)
{
    if (rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF)
        return PMIX_SUCCESS;
    if (about->rank != PMIX_RANK_WILDCARD && about->rank != rank)
        return PMIX_ERR_BAD_PARAM;
    about->rank = rank;
    return rank < about->job.size ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t check_nspace(struct about *about, const char *nspace)
{
    if (nspace == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (nspace[0] == '\0')
        return PMIX_SUCCESS;
    if (about->is_named && strcmp(about->job.nspace, nspace) != 0)
        return PMIX_ERR_BAD_PARAM;
    about->is_named = true;
    return px_job_find(nspace, &about->job) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t check_host(struct about *about, const char *host)
{
    struct px_place place;

    if (host != NULL && about->host != NULL && strcmp(about->host, host) != 0)
        return PMIX_ERR_BAD_PARAM;
    about->host = host;
    for (uint32_t i = 0; host != NULL && px_job_place(&about->job, i, &place);
         i++) {
        if (strcmp(place.host, host) == 0)
            return PMIX_SUCCESS;
    }
    return PMIX_ERR_NOT_FOUND;
}

/* It is one that we know, and not of the type that the standard gives it. */
static bool has_other_type(const pmix_info_t *info)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } types[] = {
        {PMIX_NSPACE, PMIX_STRING},  {PMIX_PROCID, PMIX_PROC},
        {PMIX_RANK, PMIX_PROC_RANK}, {PMIX_HOSTNAME, PMIX_STRING},
        {PMIX_NODEID, PMIX_UINT32},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (PMIX_CHECK_KEY(info, types[i].key))
            return info->value.type != types[i].type;
    }
    return false;
}

/* The job, which all others are about. */
static pmix_status_t read_nspace(const pmix_info_t *info, struct about *about)
{
    const pmix_value_t *value = &info->value;

    if (has_other_type(info))
        return PMIX_ERR_BAD_PARAM;
    if (PMIX_CHECK_KEY(info, PMIX_NSPACE))
        return check_nspace(about, value->data.string);
    if (PMIX_CHECK_KEY(info, PMIX_PROCID))
        return check_nspace(about, value->data.proc->nspace);
    return PMIX_SUCCESS;
}

/* Behind read_nspace(). One that we do not know narrows nothing, unless it is
 * required. */
static pmix_status_t read_qualifier(const pmix_info_t *info,
                                    struct about *about)
{
    const pmix_value_t *value = &info->value;

    if (PMIX_CHECK_KEY(info, PMIX_NSPACE))
        return PMIX_SUCCESS;
    if (PMIX_CHECK_KEY(info, PMIX_PROCID))
        return check_rank(about, value->data.proc->rank);
    if (PMIX_CHECK_KEY(info, PMIX_RANK))
        return check_rank(about, value->data.rank);
    if (PMIX_CHECK_KEY(info, PMIX_HOSTNAME))
        return check_host(about, value->data.string);
    if (PMIX_CHECK_KEY(info, PMIX_NODEID))
        return check_host(about,
                          px_space_host(&about->job, value->data.uint32));
    if (PMIX_CHECK_KEY(info, PMIX_QUERY_REFRESH_CACHE))
        return PMIX_SUCCESS; /* we have none */
    return PMIX_INFO_IS_REQUIRED(info) ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

static pmix_status_t read_qualifiers(const pmix_query_t *query,
                                     struct about *about)
{
    pmix_status_t rc = PMIX_SUCCESS;

    *about = (struct about){.rank = PMIX_RANK_WILDCARD};
    if (!px_job_next(&about->job))
        return PMIX_ERR_NOT_FOUND;
    for (size_t i = 0; rc == PMIX_SUCCESS && i < query->nqual; i++)
        rc = read_nspace(&query->qualifiers[i], about);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < query->nqual; i++)
        rc = read_qualifier(&query->qualifiers[i], about);
    return rc;
}

/* --- the processes that a query is about */

/* The next place with any, cut to them. Start with *next 0. */
static bool next_place(const struct about *about, uint32_t *next,
                       struct px_place *place)
{
    while (px_job_place(&about->job, (*next)++, place)) {
        if (about->host != NULL && strcmp(about->host, place->host) != 0)
            continue;
        if (about->rank == PMIX_RANK_WILDCARD)
            return true;
        if (about->rank < place->first_rank ||
            about->rank - place->first_rank >= place->ranks)
            continue;
        place->first_rank = about->rank;
        place->ranks = 1;
        return true;
    }
    return false;
}

static uint32_t count_procs(const struct about *about)
{
    struct px_place place;
    uint32_t next = 0, count = 0;

    while (next_place(about, &next, &place))
        count += place.ranks;
    return count;
}

/* --- keys */

static pmix_status_t load_array(pmix_info_t *out, const char *key, void *at,
                                size_t size, pmix_data_type_t type)
{
    pmix_data_array_t array = {.type = type, .size = size, .array = at};

    PMIX_INFO_LOAD(out, key, &array, PMIX_DATA_ARRAY);
    return PMIX_SUCCESS;
}

static pmix_status_t load_text(pmix_info_t *out, const char *key,
                               const char *text)
{
    PMIX_INFO_LOAD(out, key, text, PMIX_STRING);
    return PMIX_SUCCESS;
}

static pmix_status_t load_table(pmix_info_t *out, const char *key,
                                const struct about *about)
{
    uint32_t size = count_procs(about), next = 0, count = 0;
    pmix_proc_info_t *table;
    struct px_place place;

    if (size == 0)
        return PMIX_ERR_NOT_FOUND;
    PMIX_PROC_INFO_CREATE(table, size);
    if (table == NULL)
        return PMIX_ERR_NOMEM;
    while (next_place(about, &next, &place)) {
        for (uint32_t i = 0; i < place.ranks; i++)
            px_job_describe(&about->job, place.first_rank + i, &place,
                            &table[count++]);
    }
    load_array(out, key, table, size, PMIX_PROC_INFO);
    PMIX_PROC_INFO_FREE(table, size);
    return PMIX_SUCCESS;
}

/* Without a host it is this one that is meant. */
static struct about here(const struct about *about)
{
    struct about local = *about;

    if (local.host == NULL)
        local.host = px_job_here();
    return local;
}

static pmix_status_t load_local_table(pmix_info_t *out, const char *key,
                                      const struct about *about)
{
    struct about local = here(about);

    return load_table(out, key, &local);
}

static pmix_status_t load_peers(pmix_info_t *out, const char *key,
                                const struct about *about)
{
    struct about local = here(about);
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    struct px_place place;
    uint32_t next = 0;
    pmix_status_t rc;

    if (file == NULL)
        return PMIX_ERR_NOMEM;
    while (next_place(&local, &next, &place)) {
        for (uint32_t i = 0; i < place.ranks; i++)
            fprintf(file, "%s%u", ftell(file) > 0 ? "," : "",
                    place.first_rank + i);
    }
    rc = fclose(file) != 0 ? PMIX_ERR_NOMEM
         : text[0] == '\0' ? PMIX_ERR_NOT_FOUND
                           : load_text(out, key, text);
    free(text);
    return rc;
}

static pmix_status_t load_procs(pmix_info_t *out, const char *key,
                                const struct about *about)
{
    struct about local = here(about);
    uint32_t size = count_procs(&local), next = 0, count = 0;
    struct px_place place;
    pmix_proc_t *procs;

    if (size == 0)
        return PMIX_ERR_NOT_FOUND;
    PMIX_PROC_CREATE(procs, size);
    if (procs == NULL)
        return PMIX_ERR_NOMEM;
    while (next_place(&local, &next, &place)) {
        for (uint32_t i = 0; i < place.ranks; i++, count++)
            PMIX_LOAD_PROCID(&procs[count], local.job.nspace,
                             place.first_rank + i);
    }
    load_array(out, key, procs, size, PMIX_PROC);
    PMIX_PROC_FREE(procs, size);
    return PMIX_SUCCESS;
}

static pmix_status_t load_number(pmix_info_t *out, const char *key,
                                 uint32_t number)
{
    PMIX_INFO_LOAD(out, key, &number, PMIX_UINT32);
    return PMIX_SUCCESS;
}

static pmix_status_t load_local_size(pmix_info_t *out, const char *key,
                                     const struct about *about)
{
    struct about local = here(about);

    return load_number(out, key, count_procs(&local));
}

static pmix_status_t load_size(pmix_info_t *out, const char *key,
                               const struct about *about)
{
    return load_number(out, key, about->job.size);
}

static pmix_status_t load_status(pmix_info_t *out, const char *key,
                                 const struct about *about)
{
    pmix_status_t status = px_job_has_ended(about->job.base)
                               ? PMIX_EVENT_JOB_END
                               : PMIX_EVENT_JOB_START;

    PMIX_INFO_LOAD(out, key, &status, PMIX_STATUS);
    return PMIX_SUCCESS;
}

/* The run's own, and those of others that have not ended, separated by commas.
 */
static pmix_status_t load_spaces(pmix_info_t *out, const char *key,
                                 const struct about *about)
{
    struct px_job job = {.size = 0};
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    pmix_status_t rc = PMIX_ERR_NOMEM;

    (void)about;
    if (file == NULL)
        return rc;
    while (px_job_next_listed(&job)) {
        if (job.base == 0 || !px_job_has_ended(job.base))
            fprintf(file, "%s%s", ftell(file) > 0 ? "," : "", job.nspace);
    }
    if (fclose(file) == 0)
        rc = load_text(out, key, text);
    free(text);
    return rc;
}

/* Its name, its first program, its size. */
static void load_space(pmix_info_t *out, const struct px_job *job)
{
    enum { INFOS = 3 };
    struct px_place place = {.program = ""};
    pmix_info_t *info;

    (void)px_job_place(job, 0, &place);
    PMIX_INFO_CREATE(info, INFOS);
    PMIX_INFO_LOAD(&info[0], PMIX_NSPACE, job->nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_CMD_LINE, place.program, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &job->size, PMIX_UINT32);
    load_array(out, PMIX_JOB_INFO_ARRAY, info, INFOS, PMIX_INFO);
    PMIX_INFO_FREE(info, INFOS);
}

/* An array for each namespace, or for the one that is named. */
static pmix_status_t load_space_info(pmix_info_t *out, const char *key,
                                     const struct about *about)
{
    struct px_job job = {.size = 0};
    pmix_info_t *spaces;
    size_t jobs = 0, count = 0;

    while (px_job_next_listed(&job))
        jobs++;
    if (jobs == 0)
        return PMIX_ERR_NOT_FOUND;
    PMIX_INFO_CREATE(spaces, jobs);
    if (spaces == NULL)
        return PMIX_ERR_NOMEM;
    job.size = 0;
    while (count < jobs && px_job_next_listed(&job)) {
        if (!about->is_named || job.base == about->job.base)
            load_space(&spaces[count++], &job);
    }
    if (count > 0)
        load_array(out, key, spaces, count, PMIX_INFO);
    PMIX_INFO_FREE(spaces, jobs);
    return count > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t load_list(pmix_info_t *out, const char *key,
                               const char *call)
{
    char *text = px_attributes_list(call);

    if (text == NULL)
        return PMIX_ERR_NOMEM;
    load_text(out, key, text);
    free(text);
    return PMIX_SUCCESS;
}

static pmix_status_t load_spawn(pmix_info_t *out, const char *key,
                                const struct about *about)
{
    (void)about;
    return load_list(out, key, "PMIx_Spawn");
}

static pmix_status_t load_debug(pmix_info_t *out, const char *key,
                                const struct about *about)
{
    (void)about;
    return load_list(out, key, PX_ATTRIBUTES_DEBUG);
}

static pmix_status_t load_keys(pmix_info_t *out, const char *key,
                               const struct about *about);

/* Of one process that has ended. In the table it does not get through: the
 * library does not pack that field. */
static pmix_status_t load_exit(pmix_info_t *out, const char *key,
                               const struct about *about)
{
    pmix_proc_info_t info;
    struct px_place place;
    uint32_t next = 0;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (about->rank == PMIX_RANK_WILDCARD)
        return PMIX_ERR_BAD_PARAM;
    if (!next_place(about, &next, &place))
        return rc;
    PMIX_PROC_INFO_CONSTRUCT(&info);
    px_job_describe(&about->job, about->rank, &place, &info);
    if (info.state >= PMIX_PROC_STATE_TERMINATED) {
        PMIX_INFO_LOAD(out, key, &info.exit_code, PMIX_INT);
        rc = PMIX_SUCCESS;
    }
    PMIX_PROC_INFO_DESTRUCT(&info);
    return rc;
}

static const struct {
    const char *key;
    load_fn load;
} keys[] = {
    {PMIX_QUERY_NAMESPACES, load_spaces},
    {PMIX_QUERY_NAMESPACE_INFO, load_space_info},
    {PMIX_QUERY_JOB_STATUS, load_status},
    {PMIX_QUERY_PROC_TABLE, load_table},
    {PMIX_QUERY_LOCAL_PROC_TABLE, load_local_table},
    {PMIX_QUERY_SPAWN_SUPPORT, load_spawn},
    {PMIX_QUERY_DEBUG_SUPPORT, load_debug},
    {PMIX_QUERY_SUPPORTED_KEYS, load_keys},
    {PMIX_LOCAL_PEERS, load_peers},
    {PMIX_LOCAL_PROCS, load_procs},
    {PMIX_LOCAL_SIZE, load_local_size},
    {PMIX_JOB_SIZE, load_size},
    {PMIX_EXIT_CODE, load_exit},
};

static const char *const qualifiers[] = {
    PMIX_NSPACE,   PMIX_PROCID, PMIX_RANK,
    PMIX_HOSTNAME, PMIX_NODEID, PMIX_QUERY_REFRESH_CACHE,
};

enum {
    KEYS = sizeof(keys) / sizeof(keys[0]),
    QUALIFIERS = sizeof(qualifiers) / sizeof(qualifiers[0]),
};

const char *px_query_key(size_t index)
{
    if (index < KEYS)
        return keys[index].key;
    return index < KEYS + QUALIFIERS ? qualifiers[index - KEYS] : NULL;
}

static pmix_status_t load_keys(pmix_info_t *out, const char *key,
                               const struct about *about)
{
    char text[KEYS * 32] = "";
    size_t len = 0;

    (void)about;
    for (size_t i = 0; i < KEYS; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                i > 0 ? "," : "", keys[i].key);
    return load_text(out, key, text);
}

static pmix_status_t load(pmix_info_t *out, const char *key,
                          const struct about *about)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].load(out, key, about);
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

/* --- the answer */

struct answer {
    pmix_info_t *info;
    size_t infos; /* with room for */
    size_t known;
    pmix_status_t why; /* the first key that is not known is not */
};

/* The library frees what it was given when it calls this. */
static void release(void *arg)
{
    struct answer *given = arg;

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

static void collect(const pmix_query_t *query, struct answer *given)
{
    struct about about;
    pmix_status_t rc = read_qualifiers(query, &about);

    for (char **key = query->keys; key != NULL && *key != NULL; key++) {
        pmix_status_t why = rc;

        if (why == PMIX_SUCCESS)
            why = load(&given->info[given->known], *key, &about);
        if (why == PMIX_SUCCESS)
            given->known++;
        else if (given->why == PMIX_SUCCESS)
            given->why = why;
    }
}

pmix_status_t px_query(pmix_proc_t *asker, pmix_query_t *queries,
                       size_t nqueries, pmix_info_cbfunc_t answer, void *arg)
{
    size_t wanted = count_keys(queries, nqueries);
    struct answer *given;
    pmix_status_t rc;

    (void)asker;
    if (px_support_is(queries, nqueries))
        return px_support(queries, nqueries, answer, arg);
    given = calloc(1, sizeof(*given));
    if (given == NULL || wanted == 0) {
        free(given);
        return wanted == 0 ? PMIX_ERR_BAD_PARAM : PMIX_ERR_NOMEM;
    }
    given->infos = wanted;
    PMIX_INFO_CREATE(given->info, wanted);
    for (size_t i = 0; i < nqueries; i++)
        collect(&queries[i], given);
    if (given->known == 0) {
        rc = given->why;
        release(given);
        return rc;
    }
    rc = given->known == wanted ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    answer(rc, given->info, given->known, arg, release, given);
    return PMIX_SUCCESS;
}
