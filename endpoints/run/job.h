/* A job of the session as the launcher knows it: either the session's own job,
 * which `xylem run` names, or a further one, which a client has started in the
 * same tree.
 *
 * A further job does not use the run's stdin and does not change its exit code.
 * Its output goes to clients and to files of its own, and is proved to be
 * complete only as far as it goes to files.
 */
#ifndef ENDPOINTS_RUN_JOB_H
#define ENDPOINTS_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/look.h"
#include "job/job.h"
#include "job/life.h"

struct job_record;
struct job_subscription;
struct ep_proof;
struct ep_client_job;
struct run;
struct run_job;
struct run_left;
struct run_sinks;
struct run_sinks_events;
struct run_stalls;

/* What the session's own job and further jobs do differently. */
struct run_job_events {
    void (*on_started)(struct run_job *job); /* Called when all processes of the
                                              * job run. */
    /* A process cannot be started, for the reason that `told` gives. Called for
     * the first such process only. */
    void (*on_unstarted)(struct run_job *job, const struct ep_client_job *told);
    /* A process has failed, and the launcher had not killed it. */
    void (*on_bad_exit)(struct run_job *job);
    /* The job cannot go on, because something that it needs is missing. */
    void (*on_abort)(struct run_job *job);
    /* A process was lost with its node, so `end` ends one of its channels.
     * Clients know this already. */
    void (*on_cut)(struct run_job *job, const struct job_record *end);
};

enum { RUN_LAST_BYTES = 160 };

/* The end of the last record of output. */
struct run_last_output {
    uint32_t rank;
    uint32_t len_bytes;
    char text[RUN_LAST_BYTES];
};

struct run_job {
    struct run_job *next; /* the next job; the first one is the run's own */
    struct run *run;
    const struct run_job_events *events;
    struct job desc;
    struct job_life life;
    /* How many bytes have come from the job's processes; when the last came (0:
     * none came); and how many bytes clients have pushed to them. */
    uint64_t output_bytes, output_ns, pushed_bytes;
    struct run_last_output last_output;
    struct run_look look;      /* what the job's processes are doing */
    struct run_stalls *stalls; /* owned: processes without progress; or NULL */
    /* owned: what was left out of the job's output; NULL: nothing can be */
    struct run_left *left;
    /* Owned: compares the output that arrived with the amounts that processes
     * report to have written. */
    struct ep_proof *proof;

    /* The members below are used by further jobs only. */
    struct job_subscription *subscription; /* owned */
    struct run_sinks *sinks; /* owned; NULL: only clients get its output */
    /* the process that ended last, and its status */
    uint32_t last, last_status;
    bool has_first; /* the client has been told of the failure `first` */
    struct job_first first;
    struct job_span last_at; /* when that process ended */
    bool is_cut;             /* some of its output could not be written */
};

/* What the job does at events of its files. */
extern const struct run_sinks_events ep_run_job_sinks;

bool ep_run_job_is_own(const struct run_job *job);
/* Frees what the job owns. A zeroed job owns nothing. */
void ep_run_job_fini(struct run_job *job);

/* Notes that output of the job has come. */
void ep_run_job_wrote(struct run_job *job, const struct job_record *rec);

/* Changes in the life of a job. `number` is the number of a process in the
 * session. */

/* Notes that every process of this node runs, or will never run. */
void ep_run_job_started(struct run_job *job, uint32_t node);
/* Tells the client that has started the job which process has failed first,
 * unless the client knows that already. */
void ep_run_job_first(struct run_job *job);
/* Notes that a process has ended with this status, and when. Returns false when
 * this ended a further job, which was freed. The functions below return the
 * same. */
bool ep_run_job_ended(struct run_job *job, uint32_t number, uint32_t status,
                      struct job_span at);
/* Notes that a process cannot be started: `what` is the step that failed
 * (spawner.h), and `err` the errno. */
bool ep_run_job_unstarted(struct run_job *job, uint32_t number,
                          const char *what, int err);
/* Notes that a node is lost for ever, and its processes with it. O(processes
 * there). */
bool ep_run_job_lost(struct run_job *job, uint32_t node);
/* Kills all processes of the job. From here on their exit statuses do not
 * matter. */
void ep_run_job_kill(struct run_job *job);

#endif
