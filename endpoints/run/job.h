/* A job of the session, as the launcher has it: its own, which `xylem run`
 * names, or a further one, which a client has started in its tree.
 *
 * A further job has no part in the console, in the exit code or in the run's
 * stdin: its output is for clients and for files of its own, and proved as far
 * as those.
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
struct ep_tap_job;
struct run;
struct run_job;
struct run_sinks;
struct run_sinks_events;

/* What differs between the own job and further ones. */
struct run_job_events {
    void (*on_started)(struct run_job *job); /* all of it runs */
    /* A process cannot be started, as told says; the first one. */
    void (*on_unstarted)(struct run_job *job, const struct ep_tap_job *told);
    /* A process has failed that was not told to die. */
    void (*on_bad_exit)(struct run_job *job);
    /* Something is missing that the job cannot do without: it ends. */
    void (*on_abort)(struct run_job *job);
    /* The node of a process is lost: its channel ends, beside the clients. */
    void (*on_cut)(struct run_job *job, const struct job_record *end);
};

struct run_job {
    struct run_job *next; /* further ones; the own one is the first */
    struct run *run;
    const struct run_job_events *events;
    struct job desc;
    struct job_life life;
    struct ep_proof *proof; /* owned: output as it came, against its ends */

    /* Of a further one alone. */
    struct job_subscription *subscription; /* owned */
    struct run_sinks *sinks; /* owned; NULL: its output is for clients alone */
    uint32_t last, last_status; /* the process that ended last */
    bool is_cut;                /* not all of its output could be written */
};

/* What its files tell it. */
extern const struct run_sinks_events ep_run_job_sinks;

bool ep_run_job_is_own(const struct run_job *job);
/* Frees what it owns; zeroed is fine. */
void ep_run_job_fini(struct run_job *job);

/* What becomes of it; processes by their numbers. */

/* All processes of the node run, or never will. */
void ep_run_job_started(struct run_job *job, uint32_t node);
/* The process has ended so. False: the job was a further one, is over and gone;
 * so with those below. */
bool ep_run_job_ended(struct run_job *job, uint32_t number, uint32_t status);
/* It cannot be started: the step of spawner.h, and an errno. */
bool ep_run_job_unstarted(struct run_job *job, uint32_t number,
                          const char *what, int err);
/* Its node is gone for ever: what runs there is lost. O(processes there). */
bool ep_run_job_lost(struct run_job *job, uint32_t node);
/* All its processes are told to die; how they end says nothing from here on. */
void ep_run_job_kill(struct run_job *job);

#endif
