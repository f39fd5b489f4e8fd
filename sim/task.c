/* Simulates the processes of further jobs. */
#include "sim/task.h"

#include <signal.h>

#include "sim/fate.h"
#include "sim/jobs.h"
#include "sim/owed.h"
#include "sim/word.h"

static const struct ov_event ready = {.kind = OV_EV_READY, .input = 0};

/* --- the processes of a job on a node */

typedef void task_fn(struct sim_world *w, uint32_t n, struct sim_told *job,
                     uint32_t rank);

static void each_task(struct sim_world *w, uint32_t n, struct sim_told *job,
                      task_fn *fn)
{
    struct job_part part = {0};

    while (job_next_on_node(&job->desc, n, &part)) {
        for (uint32_t i = 0; i < part.count; i++)
            fn(w, n, job, part.first_rank + i);
    }
}

static bool runs(const struct sim_told *job, uint32_t rank)
{
    return job->tasks[rank] >= SIM_TASK_RUNS &&
           job->tasks[rank] <= SIM_TASK_READS;
}

static bool is_unstarted(const struct sim_told *job, uint32_t rank)
{
    return job->tasks[rank] == SIM_TASK_UNSTARTED;
}

static bool any_task(const struct sim_told *job, uint32_t n,
                     bool (*is_so)(const struct sim_told *job, uint32_t rank))
{
    struct job_part part = {0};
    bool is_found = false;

    while (job_next_on_node(&job->desc, n, &part)) {
        for (uint32_t i = 0; i < part.count; i++)
            is_found |= is_so(job, part.first_rank + i);
    }
    return is_found;
}

/* --- how processes end */

static void say_exit(struct sim_world *w, uint32_t n, struct sim_told *job,
                     uint32_t rank, int status)
{
    job->tasks[rank] = SIM_TASK_OVER;
    sim_word_push(w, n,
                  (struct sim_word){.kind = JOB_WORD_EXIT,
                                    .number = job->desc.base + rank,
                                    .status = (uint16_t)status});
    if (!any_task(job, n, runs))
        sim_word_end(w, n);
}

static void kill_task(struct sim_world *w, uint32_t n, struct sim_told *job,
                      uint32_t rank)
{
    if (runs(job, rank))
        say_exit(w, n, job, rank, SIGKILL);
}

static void say_end(struct sim_world *w, uint32_t n, struct sim_told *job,
                    uint32_t rank)
{
    say_exit(w, n, job, rank, sim_fate_status(w, job, rank));
}

static void close_task(struct sim_world *w, uint32_t n, struct sim_told *job,
                       uint32_t rank)
{
    if (job->tasks[rank] == SIM_TASK_RUNS)
        job->tasks[rank] = SIM_TASK_CLOSED;
    else if (job->tasks[rank] == SIM_TASK_READS)
        say_end(w, n, job, rank);
}

void sim_task_close(struct sim_world *w, uint32_t n, uint32_t number)
{
    uint32_t rank;

    each_task(w, n, sim_jobs_of(w, number, &rank), close_task);
    sim_owed_push(w->step.owed, &ready);
}

void sim_task_kill(struct sim_world *w, uint32_t n, uint32_t job)
{
    for (uint32_t i = 1; i < w->jobs.count; i++) {
        if (job == SIM_JOBS_ALL || job == i)
            each_task(w, n, &w->jobs.told[i], kill_task);
    }
    if (w->words != NULL)
        sim_owed_push(w->step.owed, &ready);
}

bool sim_task_on_exit(struct sim_world *w, const struct sim_item *item,
                      struct ov_event *ev)
{
    uint32_t rank;
    struct sim_told *job = sim_jobs_of(w, item->arg, &rank);

    if (job->tasks[rank] == SIM_TASK_RUNS && job->tool.pushes > 0)
        job->tasks[rank] = SIM_TASK_READS;
    if (!runs(job, rank) || job->tasks[rank] == SIM_TASK_READS)
        return false; /* the process reads on, or was killed */
    say_end(w, item->node, job, rank);
    *ev = ready;
    return true;
}

/* --- how processes begin */

static void start_task(struct sim_world *w, uint32_t n, struct sim_told *job,
                       uint32_t rank)
{
    bool is_unstarted = sim_fate_is_unstarted(w, job, rank);

    job->tasks[rank] = is_unstarted ? SIM_TASK_UNSTARTED : SIM_TASK_RUNS;
    if (is_unstarted)
        sim_word_push(w, n,
                      (struct sim_word){.kind = JOB_WORD_FAILED,
                                        .number = job->desc.base + rank});
    else
        sim_push(w, w->step.now_ns + sim_fate_lasts_ns(w, job, rank),
                 SIM_ITEM_EXIT, n,
                 (struct sim_item){.arg = job->desc.base + rank});
}

/* Starts the node's processes of a job. The node reports that they run only
 * when it could start all of them. */
void sim_task_launch(struct sim_world *w, uint32_t n, uint32_t job)
{
    struct sim_told *told = &w->jobs.told[job];
    struct job_part first = {0};

    if (!job_next_on_node(&told->desc, n, &first))
        return;
    sim_word_begin(w, n);
    each_task(w, n, told, start_task);
    if (!any_task(told, n, is_unstarted))
        sim_word_push(
            w, n,
            (struct sim_word){.kind = JOB_WORD_STARTED,
                              .number = told->desc.base + first.first_rank});
    if (!any_task(told, n, runs))
        sim_word_end(w, n);
    sim_owed_push(w->step.owed, &ready);
}
