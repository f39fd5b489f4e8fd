/* The jobs of a session as its clients see them. */
#include "endpoints/client/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_job(struct ep_seen_job *job)
{
    free(job->name);
    free(job->places);
    free(job->state);
    free(job);
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
    job->state = calloc(job->size > 0 ? job->size : 1, 1);
    job->places = calloc(job->parts > 0 ? job->parts : 1, sizeof(*job->places));
    if (job->name == NULL || job->state == NULL || job->places == NULL) {
        free_job(job);
        return NULL;
    }
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    return job;
}

struct ep_seen_job *ep_seen_of(const struct ep_seen *seen, uint32_t number)
{
    struct ep_seen_job *job = seen->jobs;

    while (job != NULL &&
           (number < job->base || number - job->base >= job->size))
        job = job->next;
    return job;
}

/* As many names as there is room for. */
static void list_names(const struct ep_seen *seen, char *why, size_t size_bytes)
{
    size_t len = (size_t)snprintf(
        why, size_bytes, "there are several jobs, name one with --nspace:");
    const char *before = " ";

    for (const struct ep_seen_job *job = seen->jobs; job != NULL;
         job = job->next) {
        if (job->is_over)
            continue;
        if (len + strlen(job->name) + sizeof(",, and more") > size_bytes) {
            snprintf(why + len, size_bytes - len, ", and more");
            return;
        }
        len += (size_t)snprintf(why + len, size_bytes - len, "%s%s", before,
                                job->name);
        before = ",";
    }
}

static struct ep_seen_job *find_only(const struct ep_seen *seen, char *why,
                                     size_t size_bytes)
{
    struct ep_seen_job *only = NULL;

    for (struct ep_seen_job *job = seen->jobs; job != NULL; job = job->next) {
        if (job->is_over)
            continue;
        if (only != NULL) {
            list_names(seen, why, size_bytes);
            return NULL;
        }
        only = job;
    }
    if (only == NULL)
        snprintf(why, size_bytes, "no job runs in it");
    return only;
}

struct ep_seen_job *ep_seen_find(const struct ep_seen *seen, const char *name,
                                 char *why, size_t size_bytes)
{
    struct ep_seen_job *job = seen->jobs;

    if (name[0] == '\0')
        return find_only(seen, why, size_bytes);
    while (job != NULL && (job->is_gone || strcmp(job->name, name) != 0))
        job = job->next;
    if (job == NULL)
        snprintf(why, size_bytes,
                 "the launcher knows no job %.100s: it never was, or was over "
                 "long ago",
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
