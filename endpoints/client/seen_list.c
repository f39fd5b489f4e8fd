/* A list of jobs for a user who has not said which one to use. */
#include "endpoints/client/seen_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, COMMAND_SHOWN = 60 };

static const char more[] = "\n  and more";

/* Counts the hosts of a job that has one program. Its parts on one host follow
 * each other. */
static uint32_t count_hosts(const struct ep_seen_job *job)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->parts; i++) {
        if (i == 0 || strcmp(job->places[i].host, job->places[i - 1].host) != 0)
            count++;
    }
    return count;
}

static void age(const struct ep_seen_job *job, uint64_t now_s, char *text,
                size_t size_bytes)
{
    const uint64_t since_s = job->stage_s[JOB_DOOR_STARTING];

    if (job->stage >= JOB_DOOR_STARTING && now_s >= since_s)
        snprintf(text, size_bytes, ", for %" PRIu64 " s", now_s - since_s);
    else
        text[0] = '\0';
}

/* Writes where the processes of a job run. A job of several programs would need
 * a list of its own, so that is left out. */
static void where(const struct ep_seen_job *job, char *text, size_t size_bytes)
{
    const uint32_t hosts = job->apps == 1 ? count_hosts(job) : 0;

    if (job->apps == 1)
        snprintf(text, size_bytes, " on %" PRIu32 " host%s", hosts,
                 hosts == 1 ? "" : "s");
    else
        text[0] = '\0';
}

static void write_line(const struct ep_seen_job *job, uint64_t now_s,
                       char *text, size_t size_bytes)
{
    char at[64], since[64];

    if (!job->is_known) {
        snprintf(text, size_bytes, "\n  %s", job->name);
        return;
    }
    age(job, now_s, since, sizeof(since));
    where(job, at, sizeof(at));
    snprintf(text, size_bytes, "\n  %s: `%.*s%s', %" PRIu32 " process%s%s%s",
             job->name, COMMAND_SHOWN, job->words.command,
             strlen(job->words.command) > COMMAND_SHOWN ? " ..." : "",
             job->size, job->size == 1 ? "" : "es", at, since);
}

void ep_seen_list(const struct ep_seen *seen, uint64_t now_s, char *text,
                  size_t size_bytes)
{
    size_t len = (size_t)snprintf(
        text, size_bytes, "there are several jobs, name one with --nspace:");
    char line[LINE_BYTES];

    for (const struct ep_seen_job *job = seen->jobs; job != NULL;
         job = job->next) {
        if (job->is_over || job->is_daemons)
            continue;
        write_line(job, now_s, line, sizeof(line));
        if (len + strlen(line) + sizeof(more) > size_bytes) {
            snprintf(text + len, size_bytes - len, "%s", more);
            return;
        }
        len += (size_t)snprintf(text + len, size_bytes - len, "%s", line);
    }
}
