/* The stage that a job has reached. */
#include "endpoints/client/stage.h"

#include <stdio.h>
#include <sys/wait.h>

#include "endpoints/client/seen.h"

uint8_t ep_stage_of(const struct ep_seen_job *job, bool is_last)
{
    if (job->started == 0)
        return 0;
    if (is_last || (job->exited == job->size && job->open == 0))
        return JOB_DOOR_OVER;
    return job->started < job->size ? JOB_DOOR_STARTING : JOB_DOOR_RUNNING;
}

/* Writes how the job ended: its first process that failed decides that. */
static void put_end(const struct ep_seen_job *job, char *text, size_t size)
{
    const int status = job->failure.status;
    const uint32_t unheard = job->size - job->exited;

    if (unheard > 0)
        snprintf(text, size, "how %u of %u processes ended is not known",
                 unheard, job->size);
    else if (job->failure.count == 0)
        snprintf(text, size, "%u process%s returned 0", job->size,
                 job->size == 1 ? "" : "es");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "rank %u was ended by signal %d",
                 job->failure.rank, WTERMSIG(status));
    else
        snprintf(text, size, "rank %u returned %d", job->failure.rank,
                 WEXITSTATUS(status));
}

bool ep_stage_text(const struct ep_seen_job *job, uint8_t stage, char *text,
                   size_t size_bytes)
{
    char what[96] = "a first process runs";
    const char *name = "PMIX_EVENT_JOB_START";

    if ((job->says & EP_SEEN_SAYS_STAGES) == 0 &&
        (stage != JOB_DOOR_OVER || job->says == 0))
        return false;
    if (stage == JOB_DOOR_RUNNING) {
        name = "PMIX_LAUNCH_COMPLETE";
        snprintf(what, sizeof(what), "%u process%s", job->size,
                 job->size == 1 ? " runs" : "es run");
    } else if (stage == JOB_DOOR_OVER) {
        name = "PMIX_EVENT_JOB_END";
        put_end(job, what, sizeof(what));
    }
    snprintf(text, size_bytes, "%s of %s: %s", name, job->name, what);
    return true;
}
