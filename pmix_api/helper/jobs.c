/* Keeps the table of the session's jobs. */
#include "pmix_api/helper/jobs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/program.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/door.h"

struct px_jobs {
    struct px_door *door; /* owned */
    const struct px_jobs_events *events;
    void *arg;
    struct px_jobs_entry *all; /* owned, in the order in which they began */
    uint32_t count, room;
    struct px_lib_name tool; /* "": the tool has no name yet */
    uint32_t begun_end;      /* the number after the last process of all jobs so
                                far */
};

/* --- the table */

const struct px_jobs_entry *px_jobs_find(const struct px_jobs *jobs,
                                         const char *name)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->all[i].name, name) == 0)
            return &jobs->all[i];
    }
    return NULL;
}

const struct px_jobs_entry *px_jobs_at(const struct px_jobs *jobs,
                                       uint32_t index)
{
    return index < jobs->count ? &jobs->all[index] : NULL;
}

static struct px_jobs_entry *find_of(const struct px_jobs *jobs,
                                     uint32_t number)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct px_jobs_entry *job = &jobs->all[i];

        if (number >= job->base && number - job->base < job->size)
            return job;
    }
    return NULL;
}

const struct px_jobs_entry *px_jobs_find_of(const struct px_jobs *jobs,
                                            uint32_t number)
{
    return find_of(jobs, number);
}

bool px_jobs_have_begun(const struct px_jobs *jobs, uint32_t base)
{
    return base < jobs->begun_end;
}

void px_jobs_come(struct px_jobs *jobs, uint32_t base, uint8_t channels)
{
    struct px_jobs_entry *job = find_of(jobs, base);

    if (job != NULL)
        job->comes = channels;
}

static bool has_room(struct px_jobs *jobs)
{
    uint32_t room = jobs->room > 0 ? 2 * jobs->room : 16;
    struct px_jobs_entry *grown;

    if (jobs->count < jobs->room)
        return true;
    grown = realloc(jobs->all, room * sizeof(*grown));
    if (grown == NULL)
        return false;
    jobs->all = grown;
    jobs->room = room;
    return true;
}

static struct px_lib_wish wish_of(const struct job_door *msg)
{
    return (struct px_lib_wish){.drops_oldest = msg->is_last,
                                .has_cache =
                                    msg->cache_bytes != JOB_CACHE_UNSAID,
                                .cache_bytes = msg->cache_bytes,
                                .buffer_bytes = msg->buffer.bytes,
                                .buffer_s = msg->buffer.s};
}

/* Adds a job, unless its name is too long for tools: no tool could ask about
 * it. */
static void add_job(struct px_jobs *jobs, const struct job_door *msg)
{
    struct px_jobs_entry *job;

    if (msg->first + msg->count > jobs->begun_end)
        jobs->begun_end = msg->first + msg->count;
    if (strlen(msg->text) >= PX_LIB_NAME_BYTES || !has_room(jobs))
        return;
    job = &jobs->all[jobs->count++];
    *job = (struct px_jobs_entry){.base = msg->first,
                                  .size = msg->count,
                                  .channels = msg->channels,
                                  .is_dvm = msg->is_dvm,
                                  .wish = wish_of(msg)};
    snprintf(job->name, sizeof(job->name), "%.*s", PX_LIB_NAME_BYTES - 1,
             msg->text);
    (void)px_lib_job(job->name, job->size);
}

static void forget(struct px_jobs *jobs, uint32_t base)
{
    struct px_jobs_entry *job = find_of(jobs, base);

    if (job == NULL)
        return;
    (void)px_lib_job_end(job->name);
    jobs->count--;
    memmove(job, job + 1,
            (size_t)(jobs->all + jobs->count - job) * sizeof(*job));
}

static void note_stage(struct px_jobs *jobs, const struct job_door *msg)
{
    struct px_jobs_entry *job = find_of(jobs, msg->base);

    if (job != NULL)
        job->stage = msg->reason;
}

/* --- the door */

static void tell_name(struct px_jobs *jobs, const struct job_door *msg)
{
    struct px_lib_name name = {.rank = msg->first};

    snprintf(name.nspace, sizeof(name.nspace), "%.*s", PX_LIB_NAME_BYTES - 1,
             msg->text);
    jobs->tool = name;
    jobs->events->on_named(jobs->arg, msg->is_over ? NULL : &name);
}

static bool on_word(void *arg, const struct job_door *msg)
{
    struct px_jobs *jobs = arg;

    if (msg->kind == JOB_DOOR_WATCHED) {
        jobs->events->on_watched(jobs->arg);
    } else if (msg->kind == JOB_DOOR_NAMED) {
        tell_name(jobs, msg);
    } else {
        if (msg->kind == JOB_DOOR_BEGUN)
            add_job(jobs, msg);
        else if (msg->kind == JOB_DOOR_STAGE)
            note_stage(jobs, msg);
        jobs->events->on_word(jobs->arg, msg);
        if (msg->kind == JOB_DOOR_FORGOTTEN)
            forget(jobs, msg->base);
    }
    return true;
}

void px_jobs_note(const struct px_jobs *jobs, const char *format, ...)
{
    struct job_door msg = {.kind = JOB_DOOR_NOTE};
    va_list args;

    va_start(args, format);
    vsnprintf(msg.text, sizeof(msg.text), format, args);
    va_end(args);
    px_door_say(jobs->door, &msg);
}

const struct px_lib_name *px_jobs_tool(const struct px_jobs *jobs)
{
    return &jobs->tool;
}

struct px_door *px_jobs_door(const struct px_jobs *jobs)
{
    return jobs->door;
}

static void on_end(void *arg, const char *why)
{
    const struct px_jobs *jobs = arg;

    jobs->events->on_end(jobs->arg, why);
}

void px_jobs_name(struct px_jobs *jobs, const struct px_lib_name *wanted)
{
    struct job_door msg = {.kind = JOB_DOOR_NAME};

    if (wanted != NULL) {
        msg.first = wanted->rank;
        snprintf(msg.text, sizeof(msg.text), "%s", wanted->nspace);
    }
    px_door_say(jobs->door, &msg);
}

int px_jobs_open(const struct px_door_way *way,
                 const struct px_jobs_events *events, void *arg,
                 struct px_jobs **out)
{
    static const struct px_door_events door_events = {.on_word = on_word,
                                                      .on_end = on_end};
    struct px_jobs *jobs = calloc(1, sizeof(*jobs));

    *out = jobs;
    if (jobs == NULL)
        return OV_ENOMEM;
    jobs->events = events;
    jobs->arg = arg;
    if (px_door_open(way, &door_events, jobs, &jobs->door) != 0) {
        free(jobs);
        *out = NULL;
        return OV_ENOMEM;
    }
    px_door_say(jobs->door, &(struct job_door){.kind = JOB_DOOR_WATCH});
    return 0;
}

void px_jobs_close(struct px_jobs *jobs)
{
    if (jobs == NULL)
        return;
    px_door_close(jobs->door);
    free(jobs->all);
    free(jobs);
}
