/* Checks the rules for jobs. */
#include "sim/check_jobs.h"

#include <stdlib.h>

#include "overlay/base/panic.h"
#include "sim/fate.h"

void sim_check_job_open(struct sim_told *job)
{
    job->books.over = calloc(job->desc.size, sizeof(*job->books.over));
    OV_ASSERT(job->books.over != NULL);
}

void sim_check_job_close(struct sim_told *job)
{
    free(job->books.over);
}

static uint32_t number_of(const struct sim_world *w, const struct sim_told *job)
{
    return (uint32_t)(job - w->jobs.told);
}

/* --- the state on the nodes */

static bool is_unstarted(const struct sim_world *w, const struct sim_told *job,
                         uint32_t rank)
{
    return job->tasks != NULL ? job->tasks[rank] == SIM_TASK_UNSTARTED
                              : w->processes[rank + 1].is_unstarted;
}

static bool has_ended(const struct sim_world *w, const struct sim_told *job,
                      uint32_t rank)
{
    return job->tasks != NULL ? job->tasks[rank] == SIM_TASK_OVER
                              : w->processes[rank + 1].is_over;
}

static bool has_started(const struct sim_world *w, const struct sim_told *job,
                        uint32_t rank)
{
    if (is_unstarted(w, job, rank))
        return false;
    return job->tasks != NULL ? job->tasks[rank] != SIM_TASK_NONE
                              : w->processes[rank + 1].has_started;
}

static bool is_lost(const struct sim_world *w, const struct sim_told *job,
                    uint32_t rank)
{
    return w->hosts[job_node_of(&job->desc, rank, NULL)].node.is_lost;
}

/* --- processes */

/* True when the process is in the state on its node in which the launcher
 * believes it to be. */
static bool is_so(const struct sim_world *w, const struct sim_told *job,
                  uint32_t rank)
{
    switch (job_life_process(&job->life, rank)) {
    case JOB_PROCESS_ENDED:
        return has_ended(w, job, rank) && !is_unstarted(w, job, rank);
    case JOB_PROCESS_UNSTARTED:
        return is_unstarted(w, job, rank);
    case JOB_PROCESS_LOST:
        return is_lost(w, job, rank);
    case JOB_PROCESS_TOLD:
    case JOB_PROCESS_STATES:
        break;
    }
    return false;
}

/* Checks that the report of a process's end arrives after its last output. */
static void check_output(struct sim_world *w, uint32_t node)
{
    const struct sim_process *p = &w->processes[node];

    if (p->got != p->written)
        sim_world_fail(w,
                       "node %u says that its process has ended, which wrote "
                       "%llu bytes, and %llu have come",
                       node, (unsigned long long)p->written,
                       (unsigned long long)p->got);
}

static void on_process(struct sim_world *w, struct sim_told *job,
                       const struct job_life_event *event)
{
    static const char *const hows[JOB_PROCESS_STATES] = {
        [JOB_PROCESS_TOLD] = "to run",
        [JOB_PROCESS_ENDED] = "to have ended",
        [JOB_PROCESS_UNSTARTED] = "not to have started",
        [JOB_PROCESS_LOST] = "to be lost",
    };
    struct sim_job_books *books = &job->books;
    uint32_t rank = event->rank;

    if (books->over[rank]++ > 0)
        sim_world_fail(w, "rank %u of job %u is over twice", rank,
                       number_of(w, job));
    else if (!is_so(w, job, rank))
        sim_world_fail(w, "rank %u of job %u is said %s, and it is not so",
                       rank, number_of(w, job),
                       hows[job_life_process(&job->life, rank)]);
    if (event->kind == JOB_LIFE_PROCESS_ENDED && job->tasks == NULL)
        check_output(w, rank + 1);
    books->over_count++;
}

/* --- jobs */

static void on_started(struct sim_world *w, struct sim_told *job)
{
    if (job->books.started++ > 0)
        sim_world_fail(w, "job %u has started twice", number_of(w, job));
    for (uint32_t rank = 0; rank < job->desc.size; rank++) {
        if (!has_started(w, job, rank) && !is_lost(w, job, rank))
            sim_world_fail(w, "job %u has started, rank %u has not",
                           number_of(w, job), rank);
    }
}

static void on_over(struct sim_world *w, struct sim_told *job)
{
    if (job->books.over_count != job->desc.size)
        sim_world_fail(w, "job %u is over with %u of %u processes",
                       number_of(w, job), job->books.over_count,
                       job->desc.size);
}

/* Notes which process decides the job's exit code: the one that fails first or,
 * among those of which the launcher hears at the same time, the one with the
 * lowest rank. */
static void note_failure(struct sim_world *w, struct sim_told *job,
                         const struct job_life_event *event)
{
    struct sim_job_books *books = &job->books;

    if (job->life.is_killed || sim_fate_status(w, job, event->rank) == 0)
        return;
    if (books->failed_ns == 0)
        books->failed_ns = w->step.now_ns;
    else if (event->rank > books->decides || w->step.now_ns > books->failed_ns)
        return;
    books->decides = event->rank;
}

void sim_check_job(struct sim_world *w, struct sim_told *job,
                   const struct job_life_event *event,
                   const struct job_life_news *news)
{
    bool is_loss = event->kind == JOB_LIFE_NODE_LOST ||
                   (event->kind == JOB_LIFE_PROCESS_LOST && news->is_process);

    if (is_loss && job->books.lost_ns == 0)
        job->books.lost_ns = w->step.now_ns;
    if (news->is_process)
        on_process(w, job, event);
    if (news->is_process && event->kind == JOB_LIFE_PROCESS_ENDED)
        note_failure(w, job, event);
    if (news->is_started)
        on_started(w, job);
    if (news->is_over)
        on_over(w, job);
}

static int code_of(const struct sim_world *w, const struct sim_told *job)
{
    const struct sim_job_books *books = &job->books;
    bool has_failed = books->failed_ns > 0;

    if (books->lost_ns > 0 &&
        (!has_failed || books->lost_ns < books->failed_ns))
        return 1;
    return has_failed
               ? job_failure_code(sim_fate_status(w, job, books->decides))
               : 0;
}

void sim_check_jobs_end(struct sim_world *w)
{
    for (uint32_t i = 0; i < w->jobs.count; i++) {
        const struct sim_told *job = &w->jobs.told[i];

        if (job->books.over_count != job->desc.size)
            sim_world_fail(w, "job %u is not over at the end: %u of %u are", i,
                           job->books.over_count, job->desc.size);
        if (job_life_code(&job->life) != code_of(w, job))
            sim_world_fail(w, "the exit code of job %u is %d, not %d", i,
                           job_life_code(&job->life), code_of(w, job));
    }
}
