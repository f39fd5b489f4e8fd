/* Asks a session for its jobs, and for the processes of one job. */
#include "commands/stack/jobs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/refuse.h"
#include "endpoints/client/table.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { WAIT_MS = EP_SESSIONS_ALONE_S * 1000 };

struct candidate {
    uint32_t base, size;
    bool is_dvm, is_over;
    char name[JOB_DOOR_TEXT_MAX];
};

/* Memory for what the session sends. */
static struct {
    struct candidate *jobs; /* owned */
    uint32_t count;
    uint8_t packet[JOB_DOOR_BYTES_MAX];
} asked;

/* --- messages */

/* Waits for the next message. What *msg borrows is valid until the next call.
 * Returns 0; or 1 after it has reported what is wrong. */
static int hear(const struct ep_session *session, int64_t end_ms,
                struct job_door *msg)
{
    uint32_t len_bytes;
    int rc = OV_EFULL;

    while (rc == OV_EFULL && ep_clock_ms() < end_ms)
        rc = ep_session_receive(session, (int)(end_ms - ep_clock_ms()),
                                asked.packet, &len_bytes);
    if (rc == OV_EFULL)
        return refuse("process %d has not answered for %d s (is it stopped, or "
                      "still starting its daemons?)",
                      (int)session->number, EP_SESSIONS_ALONE_S);
    if (rc == 0)
        rc = job_door_decode(ov_rd_init(asked.packet, len_bytes), msg);
    if (rc != 0)
        return refuse("process %d has ended meanwhile", (int)session->number);
    return msg->kind == JOB_DOOR_REFUSED ? refuse("%s", msg->text) : 0;
}

static int say(const struct ep_session *session, const struct job_door *msg)
{
    return ep_session_say(session, msg) != 0
               ? refuse("process %d has ended meanwhile", (int)session->number)
               : 0;
}

/* --- the jobs of the session */

static int add_job(const struct job_door *msg)
{
    struct candidate *jobs =
        realloc(asked.jobs, (asked.count + 1) * sizeof(*jobs));
    struct candidate *job;

    if (jobs == NULL)
        return refuse("%s", ov_strerror(OV_ENOMEM));
    asked.jobs = jobs;
    job = &jobs[asked.count++];
    *job = (struct candidate){
        .base = msg->first, .size = msg->count, .is_dvm = msg->is_dvm};
    snprintf(job->name, sizeof(job->name), "%s", msg->text);
    return 0;
}

static void end_job(uint32_t base)
{
    for (uint32_t i = 0; i < asked.count; i++)
        asked.jobs[i].is_over |= asked.jobs[i].base == base;
}

static int list_jobs(const struct ep_session *session)
{
    const int64_t end_ms = ep_clock_ms() + WAIT_MS;
    struct job_door msg;
    int rc = say(session, &(struct job_door){.kind = JOB_DOOR_WATCH});

    while (rc == 0) {
        rc = hear(session, end_ms, &msg);
        if (rc != 0 || msg.kind == JOB_DOOR_WATCHED)
            break;
        if (msg.kind == JOB_DOOR_BEGUN)
            rc = add_job(&msg);
        else if (msg.kind == JOB_DOOR_FORGOTTEN ||
                 (msg.kind == JOB_DOOR_STAGE && msg.reason == JOB_DOOR_OVER))
            end_job(msg.base);
    }
    return rc;
}

/* --- the job that the user means */

static bool may_be(const struct candidate *job)
{
    return !job->is_over && !job->is_dvm;
}

static const struct candidate *find_named(const char *name)
{
    for (uint32_t i = 0; i < asked.count; i++) {
        if (may_be(&asked.jobs[i]) && strcmp(asked.jobs[i].name, name) == 0)
            return &asked.jobs[i];
    }
    refuse("there is no job %.100s: it ended long ago, or the name is wrong",
           name);
    return NULL;
}

/* When the run's own job is running, a job that was started in it by others is
 * not meant. */
static const struct candidate *find_only(void)
{
    const struct candidate *only = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < asked.count; i++) {
        if (!may_be(&asked.jobs[i]))
            continue;
        only = &asked.jobs[i];
        count++;
        if (only->base == 0)
            return only;
    }
    if (count == 1)
        return only;
    if (count == 0) {
        refuse("no job is running in this session");
        return NULL;
    }
    refuse("%u jobs are running in this session, name one:", count);
    for (uint32_t i = 0; i < asked.count; i++) {
        if (may_be(&asked.jobs[i]))
            fprintf(stderr, "  xylem stack %s\n", asked.jobs[i].name);
    }
    return NULL;
}

static int describe(const struct ep_session *session, struct stack_job *out)
{
    const int64_t end_ms = ep_clock_ms() + WAIT_MS;
    struct job_door msg = {.kind = JOB_DOOR_DESCRIBE, .base = out->base};
    int rc = say(session, &msg);

    msg.kind = 0;
    while (rc == 0 && msg.kind != JOB_DOOR_DESCRIBED) {
        rc = hear(session, end_ms, &msg);
        if (rc != 0 ||
            (msg.kind != JOB_DOOR_PLACE && msg.kind != JOB_DOOR_PIDS &&
             msg.kind != JOB_DOOR_EXITS && msg.kind != JOB_DOOR_DESCRIBED))
            continue;
        rc = ep_table_add(out->table, &msg);
        if (rc != 0)
            return refuse("%s", ov_strerror(rc));
    }
    if (rc == 0 && msg.is_over)
        return refuse("the job is over");
    return rc;
}

int stack_job_find(const struct ep_session *session, const char *name,
                   struct stack_job *out)
{
    const struct candidate *job = NULL;
    int rc = list_jobs(session);

    *out = (struct stack_job){.table = NULL};
    if (rc == 0)
        job = name != NULL ? find_named(name) : find_only();
    if (job != NULL) {
        snprintf(out->name, sizeof(out->name), "%s", job->name);
        out->base = job->base;
        out->size = job->size;
        out->table = ep_table_open(job->base, job->size);
    }
    free(asked.jobs);
    asked.jobs = NULL;
    asked.count = 0;
    if (job == NULL)
        return 1;
    if (out->table == NULL)
        return refuse("%s", ov_strerror(OV_ENOMEM));
    rc = describe(session, out);
    if (rc != 0)
        ep_table_close(out->table);
    return rc;
}
