/* The jobs that the nodes were told of: what the launcher and the nodes know of
 * each, and what the onlookers have written down. */
#ifndef SIM_TOLD_H
#define SIM_TOLD_H

#include "job/life.h"
#include "sim/model.h"

enum { SIM_JOBS_MAX = SIM_FURTHER_MAX + 1 };

/* The state of a process of a further job, on its node. */
enum sim_task {
    SIM_TASK_NONE,
    SIM_TASK_RUNS,
    SIM_TASK_CLOSED, /* runs, and its stdin was closed */
    SIM_TASK_READS,  /* its time is up, but it continues to read */
    SIM_TASK_OVER,
    SIM_TASK_UNSTARTED,
};

/* What the onlookers know of a job. */
struct sim_job_books {
    uint8_t *over; /* owned, by rank: how often it was over */
    uint32_t over_count;
    uint32_t started;   /* how often the job was told to have started */
    uint64_t lost_ns;   /* when the first loss was heard of; 0: none */
    uint64_t failed_ns; /* when the first process failed before a kill; 0:
                           none, */
    uint32_t decides;   /* and the rank that decides the job's exit code */
};

/* A job that the nodes were told of. The first one is the run's own. */
struct sim_told {
    struct job desc;
    struct job_life life;
    struct sim_fate fate;
    struct sim_tool tool;
    uint64_t lasts_ns;
    uint64_t told_ns;
    uint64_t over_ns; /* 0: it is not over */
    uint8_t *tasks;   /* owned, by rank: enum sim_task; NULL: the run's own
                         job */
    struct sim_job_books books;
};

enum {
    SIM_JOBS_ALL = 0xff,
    /* Each job is told and killed once; plus opening two streams, killing all,
     * and goodbye. */
    SIM_ORDERS_MAX = 2 * SIM_JOBS_MAX + 4,
};

#endif
