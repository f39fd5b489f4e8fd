/* Reads the qualifiers of a query. */
#include "pmix_api/helper/about.h"

#include <string.h>

#include "pmix_api/helper/lib/key.h"
#include "pmix_api/helper/jobs.h"

enum what { NSPACE, PROCID, RANK, HOSTNAME, NODEID, REFRESH_CACHE, WHATS };

/* The known qualifiers. REFRESH_CACHE may have a value of any type, because it
 * has no effect: the helper caches nothing. */
static const struct {
    const char *key;
    enum px_lib_type type;
} qualifiers[WHATS] = {
    [NSPACE] = {PX_KEY_NSPACE, PX_LIB_TEXT},
    [PROCID] = {PX_KEY_PROCID, PX_LIB_NAME},
    [RANK] = {PX_KEY_RANK, PX_LIB_RANK},
    [HOSTNAME] = {PX_KEY_HOSTNAME, PX_LIB_TEXT},
    [NODEID] = {PX_KEY_NODEID, PX_LIB_NUMBER},
    [REFRESH_CACHE] = {PX_KEY_REFRESH_CACHE, PX_LIB_OTHER},
};

const char *px_about_key(unsigned index)
{
    return index < WHATS ? qualifiers[index].key : NULL;
}

/* Returns WHATS for a qualifier that is not known. */
static enum what what_of(const struct px_lib_info *info)
{
    enum what what = NSPACE;

    while (what < WHATS && strcmp(qualifiers[what].key, info->key) != 0)
        what++;
    return what;
}

static bool has_other_type(const struct px_lib_info *info, enum what what)
{
    const struct px_lib_value *value = &info->value;

    if (what == WHATS || what == REFRESH_CACHE)
        return false;
    if (what == RANK && value->type == PX_LIB_NUMBER)
        return value->width != PX_LIB_U32;
    return value->type != qualifiers[what].type ||
           (what == NODEID && value->width != PX_LIB_U32);
}

/* --- the job */

static enum px_lib_answer check_nspace(struct px_about *about,
                                       const struct px_jobs *jobs,
                                       const char *nspace)
{
    if (nspace[0] == '\0')
        return PX_LIB_YES;
    if (about->is_named && strcmp(about->job->name, nspace) != 0)
        return PX_LIB_BAD_PARAM;
    about->is_named = true;
    about->job = px_jobs_find(jobs, nspace);
    return about->job != NULL ? PX_LIB_YES : PX_LIB_NOT_FOUND;
}

enum px_lib_answer px_about_job(const struct px_lib_ask *ask,
                                const struct px_jobs *jobs,
                                struct px_about *about)
{
    enum px_lib_answer answer = PX_LIB_YES;

    *about =
        (struct px_about){.job = px_jobs_find_of(jobs, 0), .rank = PX_LIB_ALL};
    for (size_t i = 0; answer == PX_LIB_YES && i < ask->qualifiers_count; i++) {
        const struct px_lib_info *info = &ask->qualifiers[i];
        enum what what = what_of(info);

        if (has_other_type(info, what))
            answer = PX_LIB_BAD_PARAM;
        else if (what == NSPACE)
            answer = check_nspace(about, jobs, info->value.as.text);
        else if (what == PROCID)
            answer = check_nspace(about, jobs, info->value.as.names->nspace);
    }
    return answer;
}

/* --- its processes */

bool px_about_needs_table(const struct px_lib_ask *ask)
{
    for (size_t i = 0; i < ask->qualifiers_count; i++) {
        enum what what = what_of(&ask->qualifiers[i]);

        if (what == HOSTNAME || what == NODEID)
            return true;
    }
    return false;
}

static enum px_lib_answer check_rank(struct px_about *about, uint32_t rank)
{
    if (rank == PX_LIB_ALL || rank == PX_LIB_UNDEFINED)
        return PX_LIB_YES;
    if (about->rank != PX_LIB_ALL && about->rank != rank)
        return PX_LIB_BAD_PARAM;
    about->rank = rank;
    return about->job != NULL && rank < about->job->size ? PX_LIB_YES
                                                         : PX_LIB_NOT_FOUND;
}

/* The host that a qualifier names; NULL: the qualifier does not name a host. */
static const char *host_of(const struct px_about *about,
                           const struct px_lib_info *info)
{
    const enum what what = what_of(info);

    if (what == HOSTNAME)
        return info->value.as.text;
    return what == NODEID
               ? ep_table_host(about->table, (uint32_t)info->value.as.number)
               : NULL;
}

static bool is_on(const struct px_about *about, const char *host)
{
    for (size_t i = 0; i < about->hosts->qualifiers_count; i++) {
        const char *named = host_of(about, &about->hosts->qualifiers[i]);

        if (named != NULL && strcmp(named, host) == 0)
            return true;
    }
    return false;
}

static enum px_lib_answer check_host(const struct px_about *about,
                                     const char *host)
{
    const struct ep_table_place *place;

    if (host == NULL)
        return PX_LIB_NOT_FOUND;
    for (uint32_t i = 0; (place = ep_table_at(about->table, i)) != NULL; i++) {
        if (strcmp(place->host, host) == 0)
            return PX_LIB_YES;
    }
    return PX_LIB_NOT_FOUND;
}

/* Applies a qualifier. An unknown qualifier is ignored, or refused if it is
 * required. */
static enum px_lib_answer read_qualifier(struct px_about *about,
                                         const struct px_lib_info *info)
{
    const struct px_lib_value *value = &info->value;

    switch (what_of(info)) {
    case PROCID:
        return check_rank(about, value->as.names->rank);
    case RANK:
        return check_rank(about, value->type == PX_LIB_RANK
                                     ? value->as.rank
                                     : (uint32_t)value->as.number);
    case HOSTNAME:
    case NODEID:
        return about->table != NULL ? check_host(about, host_of(about, info))
                                    : PX_LIB_NOT_FOUND;
    case NSPACE:
    case REFRESH_CACHE:
        return PX_LIB_YES;
    case WHATS:
        break;
    }
    return info->is_required ? PX_LIB_NOT_SUPPORTED : PX_LIB_YES;
}

enum px_lib_answer px_about_read(const struct px_lib_ask *ask,
                                 struct px_about *about)
{
    enum px_lib_answer answer = PX_LIB_YES;

    for (size_t i = 0; answer == PX_LIB_YES && i < ask->qualifiers_count; i++)
        answer = read_qualifier(about, &ask->qualifiers[i]);
    about->hosts = px_about_needs_table(ask) ? ask : NULL;
    return answer;
}

bool px_about_next(const struct px_about *about, const char *host,
                   uint32_t *next, struct ep_table_place *out)
{
    const struct ep_table_place *place;

    while ((place = ep_table_at(about->table, (*next)++)) != NULL) {
        if (about->hosts != NULL
                ? !is_on(about, place->host)
                : host != NULL && strcmp(host, place->host) != 0)
            continue;
        *out = *place;
        if (about->rank == PX_LIB_ALL)
            return true;
        if (about->rank < place->first ||
            about->rank - place->first >= place->count)
            continue;
        out->first = about->rank;
        out->count = 1;
        return true;
    }
    return false;
}

uint32_t px_about_count(const struct px_about *about, const char *host)
{
    struct ep_table_place place;
    uint32_t next = 0, count = 0;

    while (px_about_next(about, host, &next, &place))
        count += place.count;
    return count;
}
