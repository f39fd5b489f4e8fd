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
void px_job_exit(uint32_t rank, uint32_t status);

/* Tells the library of the job. Blocks; not from its thread. */
pmix_status_t px_job_register(void);

/* Constant from px_job_start on. */
const char *px_job_nspace(void);
uint32_t px_job_size(void);

bool px_job_has_ended(void);

/* Fills `out` (of px_job_size() elements, zeroed) with the processes, or with
 * those on `host` when it is not NULL; returns how many. */
uint32_t px_job_table(pmix_proc_info_t *out, const char *host);

#endif
