/* The jobs of a session as its clients see them. */
#include "endpoints/client/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/seen_list.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/base/wire.h"

enum { NS_PER_S = 1000000000 };

static void free_job(struct ep_seen_job *job)
{
    for (uint32_t i = 0; job->words.programs != NULL && i < job->apps; i++)
        free(job->words.programs[i]);
    free(job->words.programs);
    free(job->words.command);
    free(job->name);
    free(job->places);
    free(job->pids);
    free(job->statuses);
    free(job->state);
    free(job);
}

static uint32_t channels_of(const struct ep_seen_job *job)
{
    uint32_t count = 0;

    for (unsigned channel = 1; channel < 8; channel++)
        count += job->channels >> channel & 1;
    return count;
}

/* Sets pids or statuses of `count` ranks from `rank` on. `values` is NULL when
 * all of them still run. */
static void set_numbers(uint8_t *numbers, uint32_t rank, uint32_t count,
                        const uint32_t *values)
{
    struct ov_wr wr = ov_wr_init(numbers + (size_t)rank * JOB_DOOR_NUMBER_BYTES,
                                 (size_t)count * JOB_DOOR_NUMBER_BYTES);

    for (uint32_t i = 0; i < count; i++)
        ov_wr_u32(&wr, values != NULL ? values[i] : JOB_DOOR_RUNS);
}

struct ep_seen_job *ep_seen_add(struct ep_seen *seen,
                                const struct ep_seen_job *like)
{
    struct ep_seen_job **at = &seen->jobs, *job = malloc(sizeof(*job));

    if (job == NULL)
        return NULL;
    *job = *like;
    job->next = NULL;
    job->name = strdup(like->name);
    job->state = calloc((size_t)job->size + 1, 1);
    job->places = calloc((size_t)job->parts + 1, sizeof(*job->places));
    job->words.programs =
        calloc((size_t)job->apps + 1, sizeof(*job->words.programs));
    job->words.command = calloc(JOB_DOOR_TEXT_MAX, 1);
    job->pids = calloc((size_t)job->size + 1, JOB_DOOR_NUMBER_BYTES);
    job->statuses = malloc(((size_t)job->size + 1) * JOB_DOOR_NUMBER_BYTES);
    if (job->name == NULL || job->state == NULL || job->places == NULL ||
        job->words.programs == NULL || job->words.command == NULL ||
        job->pids == NULL || job->statuses == NULL) {
        free_job(job);
        return NULL;
    }
    set_numbers(job->statuses, 0, job->size, NULL);
    job->open = job->size * channels_of(job);
    job->stage_s[0] = ep_clock_unix_ns() / NS_PER_S;
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    return job;
}

static void add_word(char *command, const char *before, const char *word)
{
    const size_t len = strlen(command);

    snprintf(command + len, JOB_DOOR_TEXT_MAX - len, "%s%s", before, word);
}

static void add_program(char *command, const struct job_neighbours *part)
{
    const char *before = command[0] != '\0' ? " : " : "";

    if (part->argv == NULL)
        add_word(command, before, part->program);
    for (size_t i = 0; part->argv != NULL && part->argv[i] != NULL; i++)
        add_word(command, i == 0 ? before : " ", part->argv[i]);
}

int ep_seen_place(struct ep_seen_job *job, uint32_t index,
                  const struct job_neighbours *part)
{
    char **program = &job->words.programs[part->app];

    OV_ASSERT(index < job->parts && part->app < job->apps);
    if (*program == NULL) {
        *program = strdup(part->program);
        if (*program == NULL)
            return OV_ENOMEM;
        add_program(job->words.command, part);
    }
    job->places[index] = *part;
    job->places[index].program = *program;
    job->places[index].argv = NULL;
    return 0;
}

void ep_seen_started(struct ep_seen_job *job, uint32_t rank,
                     const uint32_t *pids, uint32_t count)
{
    if (rank >= job->size || count > job->size - rank)
        return;
    set_numbers(job->pids, rank, count, pids);
    job->started += count;
}

void ep_seen_exit(struct ep_seen_job *job, uint32_t rank, uint32_t status)
{
    set_numbers(job->statuses, rank, 1, &status);
    job->exited++;
}

struct ep_seen_job *ep_seen_of(const struct ep_seen *seen, uint32_t number)
{
    struct ep_seen_job *job = seen->jobs;

    while (job != NULL &&
           (number < job->base || number - job->base >= job->size))
        job = job->next;
    return job;
}

static struct ep_seen_job *find_only(const struct ep_seen *seen, char *why,
                                     size_t size_bytes)
{
    struct ep_seen_job *only = NULL;

    for (struct ep_seen_job *job = seen->jobs; job != NULL; job = job->next) {
        if (job->is_over || job->is_daemons)
            continue;
        if (only != NULL) {
            ep_seen_list(seen, ep_clock_unix_ns() / NS_PER_S, why, size_bytes);
            return NULL;
        }
        only = job;
    }
    if (only == NULL)
        snprintf(why, size_bytes, "no job is running in this session");
    return only;
}

struct ep_seen_job *ep_seen_find(const struct ep_seen *seen, const char *name,
                                 char *why, size_t size_bytes)
{
    struct ep_seen_job *job = seen->jobs;

    if (name[0] == '\0')
        return find_only(seen, why, size_bytes);
    while (job != NULL &&
           (job->is_gone || job->is_daemons || strcmp(job->name, name) != 0))
        job = job->next;
    if (job == NULL)
        snprintf(
            why, size_bytes,
            "there is no job %.100s: it ended long ago, or the name is wrong",
            name);
    return job;
}

static void free_unused(struct ep_seen *seen, struct ep_seen_job *job)
{
    struct ep_seen_job **at = &seen->jobs;

    if (!job->is_gone || job->users > 0)
        return;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    free_job(job);
}

void ep_seen_forget(struct ep_seen *seen, struct ep_seen_job *job)
{
    job->is_over = job->is_gone = true;
    free_unused(seen, job);
}

void ep_seen_hold(struct ep_seen_job *job)
{
    job->users++;
}

void ep_seen_let_go(struct ep_seen *seen, struct ep_seen_job *job)
{
    job->users--;
    free_unused(seen, job);
}

void ep_seen_clear(struct ep_seen *seen)
{
    while (seen->jobs != NULL) {
        struct ep_seen_job *job = seen->jobs;

        seen->jobs = job->next;
        free_job(job);
    }
}
