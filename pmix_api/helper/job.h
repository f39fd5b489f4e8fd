/* The jobs as the helper knows them: where their ranks are, which have ended.
 *
 * The run's own is the first one; others come and go. All processes of all jobs
 * have a number of their own, which the launcher and its wire know them by; a
 * job's ranks are one less its base.
 *
 * Built and changed by the main thread, forgotten in the library's; read by
 * both, so every call takes the lock.
 */
#ifndef PMIX_API_HELPER_JOB_H
#define PMIX_API_HELPER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

#include "pmix_api/helper/wish.h"
#include "pmix_api/wire.h"

/* Ended jobs beside the run's own that are still known. */
enum { JOBS_OVER_MAX = 64 };

/* A job, as a range of numbers. */
struct px_job {
    pmix_nspace_t nspace;
    uint32_t base, size;
    uint8_t forwards; /* bits of channels, 1 << channel: tools may have them */
    uint32_t cache_bytes; /* of each of these are kept, from before a pull */
};

/* Copies what START says of the run's own job, or JOB of another one. Returns 0
 * or OV_ENOMEM; also OV_EPROTO when there is such a job already. */
int px_job_start(const struct px_start *start);
int px_job_add(const struct px_job_word *told);
/* One more part of a job. Returns 0, or OV_ENOMEM, or OV_EPROTO for a part too
 * many, or one whose ranks do not follow those before. */
int px_job_part(const struct px_part *part);
/* Was that the last part of its job? *pull: gets its output from the start; 0:
 * none does. */
bool px_job_whole_with(const struct px_part *part, struct px_job *out,
                       uint32_t *pull);
/* All parts of the run's own job are told. */
bool px_job_is_whole(void);
/* Unknown processes are ignored. */
void px_job_pids(const struct px_pids *pids);
void px_job_exit(uint32_t number, uint32_t status);
void px_job_stdin(uint32_t first, uint32_t last, bool is_open);
/* Notes that a push ends their stdin. */
void px_job_close_stdin(uint32_t first, uint32_t last);
/* Notes that the launcher has no room for what is pushed to the job with this
 * base, or has again. */
void px_job_set_full(uint32_t base, bool is_full);

/* Nothing more comes of a job; *token is that which it was spawned with. True:
 * *forget has been over for longest of too many, and is to be forgotten.
 * O(jobs). */
bool px_job_over(uint32_t base, uint32_t *token, struct px_job *forget);
/* In the library's thread, which alone holds on to what it has found. */
void px_job_forget(uint32_t base);

/* Of the run's own job; constant from px_job_start on. */
const char *px_job_own(void);
uint32_t px_job_own_size(void);

/* The job of that name, or (next) the one behind `job`, of those that are
 * whole; `job` of size 0: the first one. False when there is none. O(jobs). */
bool px_job_find(const char *nspace, struct px_job *out);
bool px_job_next(struct px_job *job);
/* As px_job_next(), without the daemons of a dvm, which are no job. */
bool px_job_next_listed(struct px_job *job);
/* Is it those daemons? */
bool px_job_is_daemons(const struct px_job *job);
/* The job that was spawned with this token. */
bool px_job_of_token(uint32_t token, struct px_job *out);
/* The name of a process; false when there is none. */
bool px_job_name(uint32_t number, pmix_proc_t *out);

/* All processes of the job with this base have ended. */
bool px_job_has_ended(uint32_t base);
/* So many of them have ended badly. O(processes). */
uint32_t px_job_count_failed(uint32_t base);
/* The process has a stdin that can be pushed to, and has not ended. */
bool px_job_can_take(uint32_t number);

/* Says whether a job with some of these processes is full. O(jobs). */
bool px_job_is_full(uint32_t first, uint32_t last);
/* Says whether both processes are of one job. O(jobs). */
bool px_job_is_one(uint32_t first, uint32_t last);

/* What its spawn says of pulls of a job, where they do not say it themselves;
 * all zero for the run's own, and where the spawn says nothing. */
void px_job_set_wish(uint32_t base, const struct px_wish *wish);
void px_job_wish(uint32_t number, struct px_wish *out);
/* Who gets the output of a job from its start: the tool, as the library names
 * it, until the one of that name leaves. */
void px_job_set_spawner(uint32_t base, const void *tool,
                        const pmix_proc_t *name);
void px_job_leave(const pmix_proc_t *name);
/* The job that this process is of, and whether that tool is its spawner. False:
 * there is none. */
bool px_job_at(uint32_t number, const void *tool, struct px_job *out,
               bool *is_spawner);

/* This machine, as hosts of the job are named. */
const char *px_job_here(void);

/* Processes that are neighbours by rank, of one program, on one host. */
struct px_place {
    const char *host; /* constant while the job is, as is program */
    const char *program;
    uint32_t first_rank;
    uint32_t ranks;
};

/* The place of that number, from 0 on, in the order of ranks; false when there
 * are no more. Places do not change once the job is whole. */
bool px_job_place(const struct px_job *job, uint32_t index,
                  struct px_place *out);

/* Fills in what is known of a process, into a zeroed *out. */
void px_job_describe(const struct px_job *job, uint32_t rank,
                     const struct px_place *place, pmix_proc_info_t *out);

#endif
