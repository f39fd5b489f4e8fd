/* The jobs that the nodes were told of: as the launcher has them, as nodes do,
 * and what those who look on have written down. */
#ifndef SIM_TOLD_H
#define SIM_TOLD_H

#include "job/life.h"
#include "sim/model.h"

enum { SIM_JOBS_MAX = SIM_FURTHER_MAX + 1 };

/* A process of a further job, where it runs. */
enum sim_task {
    SIM_TASK_NONE,
    SIM_TASK_RUNS,
    SIM_TASK_CLOSED, /* the same, and its stdin was closed */
    SIM_TASK_READS,  /* its time is over, and it reads on */
    SIM_TASK_OVER,
    SIM_TASK_UNSTARTED,
};

/* What those who look on know of a job. */
struct sim_job_books {
    uint8_t *over; /* owned, by rank: so often it was over */
    uint32_t over_count;
    uint32_t started;   /* so often it was told to have started */
    uint64_t lost_ns;   /* the first loss that was heard of; 0: none */
    uint64_t failed_ns; /* the first process that failed before a kill, 0: none,
                         */
    uint32_t decides;   /* and the rank whose exit code is the job's */
};

/* A job that the nodes were told of: the own is the first. */
struct sim_told {
    struct job desc;
    struct job_life life;
    struct sim_fate fate;
    struct sim_tool tool;
    uint64_t lasts_ns;
    uint64_t told_ns;
    uint64_t over_ns; /* 0: it is not */
    uint8_t *tasks;   /* owned, by rank: enum sim_task; NULL: the own */
    struct sim_job_books books;
};

enum {
    SIM_JOBS_ALL = 0xff,
    /* Each job is told and killed once; open both, kill all, goodbye. */
    SIM_ORDERS_MAX = 2 * SIM_JOBS_MAX + 4,
};

#endif
