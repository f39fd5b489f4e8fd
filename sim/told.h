/* The jobs that the launcher has started: what the launcher and the nodes know
 * of each, and what the onlookers have noted. */
#ifndef SIM_TOLD_H
#define SIM_TOLD_H

#include "job/life.h"
#include "sim/model.h"

enum { SIM_JOBS_MAX = SIM_FURTHER_MAX + 1 };

/* The state of a process of a further job, on its node. */
enum sim_task {
    SIM_TASK_NONE,
    SIM_TASK_RUNS,
    SIM_TASK_CLOSED, /* it runs, and a tool has closed its stdin */
    SIM_TASK_READS,  /* its running time is over, but it continues to read
                        stdin */
    SIM_TASK_OVER,
    SIM_TASK_UNSTARTED,
};

/* What the onlookers know of a job. */
struct sim_job_books {
    uint8_t *over; /* owned, by rank: how often the process was reported as
                      over */
    uint32_t over_count;
    uint32_t started;   /* how often the job was reported as started */
    uint64_t lost_ns;   /* when the first loss became known; 0: there was no
                           loss */
    uint64_t failed_ns; /* when the first process failed, not counting killed
                           ones; 0: no process did */
    uint32_t decides;   /* the rank that decides the job's exit code */
};

/* A job that the launcher has started. The first one is the run's own. */
struct sim_told {
    struct job desc;
    struct job_life life;
    struct sim_fate fate;
    struct sim_tool tool;
    uint64_t lasts_ns;
    uint64_t told_ns;
    uint64_t over_ns; /* when the job was over; 0 before */
    uint8_t *tasks;   /* owned, by rank: enum sim_task; NULL for the run's own
                         job */
    struct sim_job_books books;
};

enum {
    SIM_JOBS_ALL = 0xff,
    /* The orders of a run at most: one to start and one to kill each job, and
     * four to open two streams, to kill all jobs, and for the goodbye. */
    SIM_ORDERS_MAX = 2 * SIM_JOBS_MAX + 4,
};

#endif
