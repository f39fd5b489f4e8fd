/* Makes the answers to the keys of queries. */
#include "pmix_api/helper/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "job/door.h"
#include "job/failure.h"
#include "pmix_api/helper/lib/key.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/about.h"
#include "pmix_api/helper/jobs.h"
#include "endpoints/client/table.h"

/* An answer that is being made, and what it is made from. */
struct reply {
    const struct px_known *known;
    const struct px_about *about;
    struct px_lib_value *value;
    void **owned;
};

typedef enum px_lib_answer (*load_fn)(const struct reply *reply);

const struct ep_table *px_known_table(const struct px_known *known,
                                      uint32_t base)
{
    for (uint32_t i = 0; i < known->count; i++) {
        if (known->at[i].base == base)
            return known->at[i].table;
    }
    return NULL;
}

static enum px_lib_answer put_text(const struct reply *reply, const char *text)
{
    reply->value->type = PX_LIB_TEXT;
    reply->value->as.text = text;
    return PX_LIB_YES;
}

static enum px_lib_answer put_number(const struct reply *reply,
                                     enum px_lib_width width, uint64_t number)
{
    reply->value->type = PX_LIB_NUMBER;
    reply->value->width = width;
    reply->value->as.number = number;
    return PX_LIB_YES;
}

/* Closes the file, and makes the text that was written to it the answer. */
static enum px_lib_answer put_file(const struct reply *reply, FILE *file,
                                   char **text)
{
    if (fclose(file) != 0) {
        free(*text);
        return PX_LIB_NO_RESOURCE;
    }
    *reply->owned = *text;
    return put_text(reply, *text);
}

/* --- processes */

/* Fills a row about a process. Daemons have no known pid, but they all run by
 * the time of the first query. */
static void describe(const struct px_about *about,
                     const struct ep_table_place *place, uint32_t rank,
                     struct px_lib_process *out)
{
    int status;

    *out = (struct px_lib_process){
        .nspace = about->job->name,
        .rank = rank,
        .host = place->host,
        .program = place->program,
        .pid = ep_table_pid(about->table, rank),
        .state = PX_LIB_RUNNING,
    };
    if (ep_table_exit(about->table, rank, &status)) {
        out->state = WIFSIGNALED(status) ? PX_LIB_KILLED : PX_LIB_ENDED;
        out->exit_code = job_failure_code(status);
    } else if (out->pid == 0 && !about->job->is_dvm) {
        out->state = PX_LIB_STARTING;
    }
}

static enum px_lib_answer load_rows(const struct reply *reply, const char *host)
{
    const struct px_about *about = reply->about;
    uint32_t size = px_about_count(about, host), next = 0, count = 0;
    struct px_lib_process *rows;
    struct ep_table_place place;

    if (size == 0)
        return PX_LIB_NOT_FOUND;
    rows = calloc(size, sizeof(*rows));
    if (rows == NULL)
        return PX_LIB_NO_RESOURCE;
    while (px_about_next(about, host, &next, &place)) {
        for (uint32_t i = 0; i < place.count; i++)
            describe(about, &place, place.first + i, &rows[count++]);
    }
    *reply->owned = rows;
    reply->value->type = PX_LIB_TABLE;
    reply->value->count = size;
    reply->value->as.table = rows;
    return PX_LIB_YES;
}

static enum px_lib_answer load_table(const struct reply *reply)
{
    return load_rows(reply, NULL);
}

/* Makes the table of processes on the named host or, without a name, on this
 * host. */
static enum px_lib_answer load_local_table(const struct reply *reply)
{
    return load_rows(reply, reply->known->here);
}

static enum px_lib_answer load_peers(const struct reply *reply)
{
    const char *here = reply->known->here;
    struct ep_table_place place;
    uint32_t next = 0;
    const char *before = "";
    char *text = NULL;
    size_t len;
    FILE *file;

    if (px_about_count(reply->about, here) == 0)
        return PX_LIB_NOT_FOUND;
    file = open_memstream(&text, &len);
    if (file == NULL)
        return PX_LIB_NO_RESOURCE;
    while (px_about_next(reply->about, here, &next, &place)) {
        for (uint32_t i = 0; i < place.count; i++, before = ",")
            fprintf(file, "%s%u", before, place.first + i);
    }
    return put_file(reply, file, &text);
}

static enum px_lib_answer load_procs(const struct reply *reply)
{
    const char *here = reply->known->here;
    uint32_t size = px_about_count(reply->about, here), next = 0, count = 0;
    struct ep_table_place place;
    struct px_lib_name *names;

    if (size == 0)
        return PX_LIB_NOT_FOUND;
    names = calloc(size, sizeof(*names));
    if (names == NULL)
        return PX_LIB_NO_RESOURCE;
    while (px_about_next(reply->about, here, &next, &place)) {
        for (uint32_t i = 0; i < place.count; i++, count++) {
            strcpy(names[count].nspace, reply->about->job->name);
            names[count].rank = place.first + i;
        }
    }
    *reply->owned = names;
    reply->value->type = PX_LIB_NAMES;
    reply->value->count = size;
    reply->value->as.names = names;
    return PX_LIB_YES;
}

static enum px_lib_answer load_local_size(const struct reply *reply)
{
    return put_number(reply, PX_LIB_U32,
                      px_about_count(reply->about, reply->known->here));
}

/* Makes the answer with the exit code of a process that has ended. (The table
 * of processes cannot carry it, because libpmix does not send that field.) */
static enum px_lib_answer load_exit(const struct reply *reply)
{
    const struct px_about *about = reply->about;
    int status;

    if (about->rank == PX_LIB_ALL)
        return PX_LIB_BAD_PARAM;
    if (px_about_count(about, NULL) == 0 ||
        !ep_table_exit(about->table, about->rank, &status))
        return PX_LIB_NOT_FOUND;
    return put_number(reply, PX_LIB_INT, (uint64_t)job_failure_code(status));
}

/* --- jobs */

static enum px_lib_answer load_size(const struct reply *reply)
{
    return put_number(reply, PX_LIB_U32, reply->about->job->size);
}

/* Makes the answer with the status of the job. The job's stage is used, too,
 * because lost processes never report their end. */
static enum px_lib_answer load_status(const struct reply *reply)
{
    const struct px_about *about = reply->about;
    bool has_ended =
        about->job->stage == JOB_DOOR_OVER || ep_table_has_ended(about->table);

    reply->value->type = PX_LIB_STATUS;
    reply->value->as.status = has_ended ? PX_LIB_JOB_END : PX_LIB_JOB_START;
    return PX_LIB_YES;
}

/* Makes the answer with the namespaces of the session's own job and of all jobs
 * that have not ended, separated by commas. */
static enum px_lib_answer load_spaces(const struct reply *reply)
{
    const struct px_jobs_entry *job;
    const char *before = "";
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (file == NULL)
        return PX_LIB_NO_RESOURCE;
    for (uint32_t i = 0; (job = px_jobs_at(reply->known->jobs, i)) != NULL;
         i++) {
        if (job->is_dvm || (job->base > 0 && job->stage == JOB_DOOR_OVER))
            continue;
        fprintf(file, "%s%s", before, job->name);
        before = ",";
    }
    return put_file(reply, file, &text);
}

/* The number of infos about a job: its name and its command line. Both are
 * texts, because some tools treat every info as a text (OpenPMIx's own example
 * does). */
enum { INFOS = 2 };

/* Fills an info for a job, which contains the infos `infos`. */
static void put_job(struct px_lib_info *out, struct px_lib_info *infos,
                    const struct px_jobs_entry *job,
                    const struct ep_table *table)
{
    infos[0].key = PX_KEY_NSPACE;
    infos[0].value.type = PX_LIB_TEXT;
    infos[0].value.as.text = job->name;
    infos[1].key = PX_KEY_CMD_LINE;
    infos[1].value.type = PX_LIB_TEXT;
    infos[1].value.as.text = ep_table_command(table);
    out->key = PX_KEY_INFO_ARRAY;
    out->value.type = PX_LIB_INFOS;
    out->value.count = INFOS;
    out->value.as.infos = infos;
}

/* Makes the answer with an info for each job, or only for the job that the
 * query names. */
static enum px_lib_answer load_space_info(const struct reply *reply)
{
    const struct px_known *known = reply->known;
    const struct px_about *about = reply->about;
    const struct px_jobs_entry *job;
    struct px_lib_info *all =
        calloc((size_t)(known->count + 1) * (1 + INFOS), sizeof(*all));
    size_t count = 0;

    if (all == NULL)
        return PX_LIB_NO_RESOURCE;
    *reply->owned = all;
    for (uint32_t i = 0; (job = px_jobs_at(known->jobs, i)) != NULL; i++) {
        const struct ep_table *table = px_known_table(known, job->base);

        if (job->is_dvm || table == NULL ||
            (about->is_named && job != about->job))
            continue;
        put_job(&all[count], &all[known->count + count * INFOS], job, table);
        count++;
    }
    reply->value->type = PX_LIB_INFOS;
    reply->value->count = count;
    reply->value->as.infos = all;
    return count > 0 ? PX_LIB_YES : PX_LIB_NOT_FOUND;
}

/* --- what is supported */

static enum px_lib_answer load_spawn(const struct reply *reply)
{
    return put_text(reply, px_lib_spawn_keys());
}

/* Makes the empty answer about attributes for debuggers, of which none is
 * supported. */
static enum px_lib_answer load_debug(const struct reply *reply)
{
    return put_text(reply, "");
}

static enum px_lib_answer load_keys(const struct reply *reply)
{
    const char *key;
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (file == NULL)
        return PX_LIB_NO_RESOURCE;
    for (unsigned i = 0; (key = px_reply_key(i)) != NULL; i++)
        fprintf(file, "%s%s", i > 0 ? "," : "", key);
    return put_file(reply, file, &text);
}

/* --- the table of keys */

static const struct {
    const char *key;
    enum px_reply_need need;
    load_fn load;
} keys[] = {
    {PX_KEY_NAMESPACES, PX_REPLY_NEEDS_NOTHING, load_spaces},
    {PX_KEY_NAMESPACE_INFO, PX_REPLY_NEEDS_PLACES, load_space_info},
    {PX_KEY_JOB_STATUS, PX_REPLY_NEEDS_TABLE, load_status},
    {PX_KEY_PROC_TABLE, PX_REPLY_NEEDS_TABLE, load_table},
    {PX_KEY_LOCAL_TABLE, PX_REPLY_NEEDS_TABLE, load_local_table},
    {PX_KEY_SPAWN_SUPPORT, PX_REPLY_NEEDS_NOTHING, load_spawn},
    {PX_KEY_DEBUG_SUPPORT, PX_REPLY_NEEDS_NOTHING, load_debug},
    {PX_KEY_SUPPORTED_KEYS, PX_REPLY_NEEDS_NOTHING, load_keys},
    {PX_KEY_LOCAL_PEERS, PX_REPLY_NEEDS_TABLE, load_peers},
    {PX_KEY_LOCAL_PROCS, PX_REPLY_NEEDS_TABLE, load_procs},
    {PX_KEY_LOCAL_SIZE, PX_REPLY_NEEDS_TABLE, load_local_size},
    {PX_KEY_JOB_SIZE, PX_REPLY_NEEDS_JOB, load_size},
    {PX_KEY_EXIT_CODE, PX_REPLY_NEEDS_TABLE, load_exit},
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

const char *px_reply_key(unsigned index)
{
    return index < KEYS ? keys[index].key : NULL;
}

/* Returns KEYS for a key that is not known. */
static unsigned find_key(const char *key)
{
    unsigned i = 0;

    while (i < KEYS && strcmp(keys[i].key, key) != 0)
        i++;
    return i;
}

enum px_reply_need px_reply_need(const char *key)
{
    unsigned i = find_key(key);

    return i < KEYS ? keys[i].need : PX_REPLY_NEEDS_NOTHING;
}

enum px_lib_answer px_reply(const char *key, const struct px_known *known,
                            const struct px_about *about,
                            struct px_lib_info *out, void **owned)
{
    const struct reply reply = {known, about, &out->value, owned};
    unsigned i = find_key(key);

    if (i == KEYS)
        return PX_LIB_NOT_SUPPORTED;
    if ((keys[i].need == PX_REPLY_NEEDS_JOB && about->job == NULL) ||
        (keys[i].need == PX_REPLY_NEEDS_TABLE && about->table == NULL))
        return PX_LIB_NOT_FOUND;
    *out = (struct px_lib_info){.key = keys[i].key};
    return keys[i].load(&reply);
}
