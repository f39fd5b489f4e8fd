/* The job as the helper knows it: where its ranks are, which have ended.
 *
 * Built and changed by the main thread; also read by the library's thread, so
 * every call takes the lock.
 */
#ifndef PMIX_API_HELPER_JOB_H
#define PMIX_API_HELPER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

#include "pmix_api/wire.h"

/* Copies what START says. Returns 0 or OV_ENOMEM. */
int px_job_start(const struct px_start *start);
/* One more part. Returns 0, or OV_ENOMEM, or OV_EPROTO for a part too many, or
 * one whose ranks do not follow those before. */
int px_job_part(const struct px_part *part);
/* All parts are told. */
bool px_job_is_whole(void);
/* Unknown ranks are ignored. */
void px_job_pids(const struct px_pids *pids);
void px_job_exit(uint32_t rank, uint32_t status);

/* Tells the library of the job. Blocks; not from its thread. */
pmix_status_t px_job_register(void);

/* Constant from px_job_start on. */
const char *px_job_nspace(void);
uint32_t px_job_size(void);

bool px_job_has_ended(void);
/* The rank, which there is, has not ended. */
bool px_job_runs(uint32_t rank);

/* This machine, as hosts of the job are named. */
const char *px_job_here(void);

/* Processes that are neighbours by rank, of one program, on one host. */
struct px_place {
    const char *host; /* constant, as is program */
    const char *program;
    uint32_t first_rank;
    uint32_t ranks;
};

/* The place of that number, from 0 on, in the order of ranks; false when there
 * are no more. Places do not change once the job is whole. */
bool px_job_place(uint32_t index, struct px_place *out);

/* The host of a node number, as the library counts them; NULL: there is none.
 * O(places log places). */
const char *px_job_host(uint32_t node);

/* A program's, or 128 and the signal. */
int px_job_exit_code(uint32_t status);

/* Fills in what is known of a process, into a zeroed *out. */
void px_job_describe(uint32_t rank, const struct px_place *place,
                     pmix_proc_info_t *out);

#endif
