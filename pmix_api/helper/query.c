/* Answers queries of the tool, one after the other. */
#include "pmix_api/helper/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/about.h"
#include "pmix_api/helper/describer.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/reply.h"
#include "endpoints/client/table.h"

enum { KEYS_MAX = 32, HOST_BYTES = 256 };

struct query {
    struct query *next;
    const struct px_lib_query *asked;
};

struct px_queries {
    const struct px_jobs *jobs;
    struct px_describer *describer;
    struct px_describer_user user;
    char here[HOST_BYTES];
    struct query *first, *last; /* owned */
    uint32_t count;
    /* The jobs whose tables the first query needs: */
    struct px_known_job *needs; /* owned, with their tables */
    bool *are_places;           /* Owned: says for each of these jobs whether
                                 * only its first place is needed. */
    uint32_t needs_count, known;
    enum px_lib_answer answer; /* the answer to the whole query; PX_LIB_YES so
                                  far */
};

/* --- what a query needs */

static uint32_t count_jobs(const struct px_jobs *jobs)
{
    uint32_t count = 0;

    while (px_jobs_at(jobs, count) != NULL)
        count++;
    return count;
}

static void add_need(struct px_queries *queries, uint32_t base, bool is_place)
{
    uint32_t i = 0;

    while (i < queries->needs_count && queries->needs[i].base != base)
        i++;
    if (i == queries->needs_count) {
        queries->needs[i].base = base;
        queries->are_places[i] = true;
        queries->needs_count++;
    }
    queries->are_places[i] = queries->are_places[i] && is_place;
}

static void add_places(struct px_queries *queries, const struct px_about *about)
{
    const struct px_jobs_entry *job;

    for (uint32_t i = 0; (job = px_jobs_at(queries->jobs, i)) != NULL; i++) {
        if (!job->is_dvm && (!about->is_named || job == about->job))
            add_need(queries, job->base, true);
    }
}

static void add_needs(struct px_queries *queries, const struct px_lib_ask *ask)
{
    struct px_about about;
    bool needs_table = px_about_needs_table(ask);

    if (px_about_job(ask, queries->jobs, &about) != PX_LIB_YES)
        return;
    for (size_t i = 0; i < ask->keys_count; i++) {
        enum px_reply_need need = px_reply_need(ask->keys[i]);

        if (need == PX_REPLY_NEEDS_PLACES)
            add_places(queries, &about);
        needs_table = needs_table || need == PX_REPLY_NEEDS_TABLE;
    }
    if (needs_table && about.job != NULL)
        add_need(queries, about.job->base, false);
}

static void plan_needs(struct px_queries *queries)
{
    const struct px_lib_query *asked = queries->first->asked;
    uint32_t jobs = count_jobs(queries->jobs);

    queries->needs = calloc((size_t)jobs + 1, sizeof(*queries->needs));
    queries->are_places =
        calloc((size_t)jobs + 1, sizeof(*queries->are_places));
    queries->answer = PX_LIB_NO_RESOURCE;
    if (queries->needs == NULL || queries->are_places == NULL)
        return;
    queries->answer = PX_LIB_YES;
    for (size_t i = 0; i < asked->count; i++)
        add_needs(queries, &asked->asks[i]);
}

/* --- the answer */

struct answer {
    struct px_lib_info *infos; /* owned */
    void **owned;              /* owned, and each of its members */
    size_t wanted, known;
    enum px_lib_answer why; /* why the first key without an answer has none */
};

static size_t count_keys(const struct px_lib_query *asked)
{
    size_t count = 0;

    for (size_t i = 0; i < asked->count; i++)
        count += asked->asks[i].keys_count;
    return count;
}

static void collect(const struct px_lib_ask *ask, const struct px_known *known,
                    struct answer *out)
{
    struct px_about about;
    enum px_lib_answer first = px_about_job(ask, known->jobs, &about);

    if (about.job != NULL)
        about.table = px_known_table(known, about.job->base);
    if (first == PX_LIB_YES)
        first = px_about_read(ask, &about);
    for (size_t i = 0; i < ask->keys_count; i++) {
        enum px_lib_answer why = first;
        void *owned = NULL;

        if (why == PX_LIB_YES)
            why = px_reply(ask->keys[i], known, &about, &out->infos[out->known],
                           &owned);
        if (why == PX_LIB_YES) {
            out->owned[out->known++] = owned;
        } else {
            free(owned);
            out->why = out->why == PX_LIB_YES ? why : out->why;
        }
    }
}

static void give_answer(const struct px_lib_query *asked,
                        const struct answer *out)
{
    if (out->known == 0)
        px_lib_answer(asked->call, out->why);
    else
        px_lib_answer_query(asked->call,
                            out->known == out->wanted ? PX_LIB_YES
                                                      : PX_LIB_PARTIAL,
                            out->infos, out->known);
}

static void reply(struct px_queries *queries)
{
    const struct px_lib_query *asked = queries->first->asked;
    const struct px_known known = {.jobs = queries->jobs,
                                   .here = queries->here,
                                   .at = queries->needs,
                                   .count = queries->needs_count};
    struct answer out = {.wanted = count_keys(asked), .why = PX_LIB_YES};

    out.infos = calloc(out.wanted + 1, sizeof(*out.infos));
    out.owned = calloc(out.wanted + 1, sizeof(*out.owned));
    if (queries->answer != PX_LIB_YES || out.infos == NULL ||
        out.owned == NULL) {
        px_lib_answer(asked->call, PX_LIB_NO_RESOURCE);
    } else {
        for (size_t i = 0; i < asked->count; i++)
            collect(&asked->asks[i], &known, &out);
        give_answer(asked, &out);
    }
    for (size_t i = 0; i < out.known; i++)
        free(out.owned[i]);
    free(out.owned);
    free(out.infos);
}

/* --- queries in turn */

static void end_first(struct px_queries *queries)
{
    struct query *query = queries->first;

    for (uint32_t i = 0; i < queries->needs_count; i++)
        ep_table_close(queries->needs[i].table);
    free(queries->needs);
    free(queries->are_places);
    queries->needs = NULL;
    queries->are_places = NULL;
    queries->needs_count = queries->known = 0;
    queries->first = query->next;
    queries->count--;
    free(query);
}

/* Asks for the next table that the query needs. False: it has all of them. */
static bool ask_next(struct px_queries *queries)
{
    const struct px_jobs_entry *job;

    while (queries->answer == PX_LIB_YES &&
           queries->known < queries->needs_count) {
        job =
            px_jobs_find_of(queries->jobs, queries->needs[queries->known].base);
        if (job != NULL) {
            px_describer_ask(queries->describer, &queries->user, job);
            return true;
        }
        queries->known++;
    }
    return false;
}

/* Answers queries, in order, until a query must wait for the launcher. */
static void go_on(struct px_queries *queries)
{
    while (queries->first != NULL) {
        if (queries->needs == NULL)
            plan_needs(queries);
        if (ask_next(queries))
            return;
        reply(queries);
        end_first(queries);
    }
}

/* Stores the table that was asked for; a job that the launcher no longer knows
 * has none. */
static void on_done(void *arg, enum px_lib_answer answer,
                    struct ep_table *table)
{
    struct px_queries *queries = arg;

    if (answer == PX_LIB_NO_RESOURCE)
        queries->answer = answer;
    if (table != NULL && queries->are_places[queries->known])
        ep_table_cut(table);
    queries->needs[queries->known++].table = table;
    go_on(queries);
}

void px_queries_on_query(struct px_queries *queries,
                         const struct px_lib_query *asked)
{
    struct query *query = NULL;

    if (queries->count < PX_QUERIES_MAX)
        query = calloc(1, sizeof(*query));
    if (query == NULL) {
        px_lib_answer(asked->call, PX_LIB_NO_RESOURCE);
        return;
    }
    query->asked = asked;
    queries->count++;
    if (queries->first != NULL) {
        queries->last->next = query;
        queries->last = query;
        return;
    }
    queries->first = queries->last = query;
    go_on(queries);
}

/* --- beginning and end */

int px_queries_open(const struct px_jobs *jobs, struct px_describer *describer,
                    struct px_queries **out)
{
    struct px_queries *queries = calloc(1, sizeof(*queries));

    *out = queries;
    if (queries == NULL)
        return OV_ENOMEM;
    queries->jobs = jobs;
    queries->describer = describer;
    queries->user =
        (struct px_describer_user){.on_done = on_done, .arg = queries};
    if (gethostname(queries->here, sizeof(queries->here) - 1) != 0)
        strcpy(queries->here, "localhost");
    return 0;
}

void px_queries_close(struct px_queries *queries)
{
    if (queries == NULL)
        return;
    while (queries->first != NULL)
        end_first(queries);
    free(queries);
}

const char *const *px_queries_keys(void)
{
    static const char *all[KEYS_MAX];
    unsigned count = 0;
    const char *key;

    for (unsigned i = 0; (key = px_reply_key(i)) != NULL; i++)
        all[count++] = key;
    for (unsigned i = 0; (key = px_about_key(i)) != NULL; i++)
        all[count++] = key;
    all[count] = NULL;
    return all;
}
