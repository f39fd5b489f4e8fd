/* What the library is told of a job. */
#ifndef PMIX_API_HELPER_SPACE_H
#define PMIX_API_HELPER_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/helper/job.h"

/* Tells it of the job with this base, which is whole. Waits (not in the
 * library's thread) or returns at once; then the library knows it before what
 * it is asked for later. */
pmix_status_t px_space_register(uint32_t base, bool waits);

/* Nothing more comes of a job beside the run's own: it stays known while it is
 * one of the last that have ended (JOBS_OVER_MAX). Returns the token that it
 * was spawned with. Not from the library's thread. */
uint32_t px_space_over(uint32_t base);

/* The host of a node number, as the library counts them for that job; NULL:
 * there is none. O(places log places). */
const char *px_space_host(const struct px_job *job, uint32_t node);

#endif
