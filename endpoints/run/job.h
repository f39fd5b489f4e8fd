/* A job of the session as the launcher has it: either the session's own job,
 * which `xylem run` names, or a further one, which a client has started in its
 * tree.
 *
 * A further job has no part in the console, the exit code and the run's stdin:
 * its output is for clients and for files of its own, and is only proved as far
 * as it goes to these.
 */
#ifndef ENDPOINTS_RUN_JOB_H
#define ENDPOINTS_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"
#include "job/life.h"

struct job_record;
struct job_subscription;
struct ep_proof;
struct ep_client_job;
struct run;
struct run_job;
struct run_sinks;
struct run_sinks_events;

/* What differs between the session's own job and further ones. */
struct run_job_events {
    void (*on_started)(struct run_job *job); /* all processes of the job run */
    /* A process cannot be started, as `told` says. Called for the first one. */
    void (*on_unstarted)(struct run_job *job, const struct ep_client_job *told);
    /* A process has failed without having been told to die. */
    void (*on_bad_exit)(struct run_job *job);
    /* The job cannot go on, as something that it needs is missing. */
    void (*on_abort)(struct run_job *job);
    /* The node of a process is lost, so its channel ends. Clients have been
     * told already. */
    void (*on_cut)(struct run_job *job, const struct job_record *end);
};

struct run_job {
    struct run_job *next; /* the next job; the first one is the run's own */
    struct run *run;
    const struct run_job_events *events;
    struct job desc;
    struct job_life life;
    /* Owned: compares output as it came with the ends of channels. */
    struct ep_proof *proof;

    /* These are used by further jobs alone. */
    struct job_subscription *subscription; /* owned */
    struct run_sinks *sinks; /* owned; NULL: its output goes to clients alone */
    uint32_t last, last_status; /* the process that ended last */
    bool is_cut;                /* not all of its output could be written */
};

/* What the job's files tell the job. */
extern const struct run_sinks_events ep_run_job_sinks;

bool ep_run_job_is_own(const struct run_job *job);
/* Frees what the job owns; a zeroed one is fine. */
void ep_run_job_fini(struct run_job *job);

/* What becomes of the job; `number` is that of a process. */

/* All processes of this node run, or will never run. */
void ep_run_job_started(struct run_job *job, uint32_t node);
/* The process has ended with this status. False: the job was a further one, is
 * over and was freed. So it is with the functions below. */
bool ep_run_job_ended(struct run_job *job, uint32_t number, uint32_t status);
/* The process cannot be started: the step of spawner.h, and an errno. */
bool ep_run_job_unstarted(struct run_job *job, uint32_t number,
                          const char *what, int err);
/* The node is gone for ever, and the processes there are lost. O(processes
 * there). */
bool ep_run_job_lost(struct run_job *job, uint32_t node);
/* Tells all its processes to die. How they end says nothing from here on. */
void ep_run_job_kill(struct run_job *job);

#endif
