/* What tools are told of the job's course. */
#ifndef PMIX_API_HELPER_EVENT_H
#define PMIX_API_HELPER_EVENT_H

#include <stdint.h>

#include "pmix_api/wire.h"

/* Notifies all tools that want to know, now or when they register. In the main
 * thread. The end of a job comes behind its output for the tool that has
 * spawned it, unless that takes nothing for two seconds: */
void px_event_stage(const struct px_stage *stage);

/* what is due by now is told. When to look again at the latest; 0: never. */
uint64_t px_event_step(uint64_t now_ms);

/* The same of a channel of which not all has come, as PMIX_ERR_IOF_FAILURE from
 * its process. */
void px_event_broken(const struct px_broken *broken);

/* The channel in that, one of PMIX_FWD_*_CHANNEL: an info, uint16_t. */
#define PX_IOF_CHANNEL "xylem.iof.channel"

/* How many processes have ended badly: an info of the end of a job where there
 * are any, uint32_t. */
#define PX_JOB_FAILED "xylem.job.failed"
/* A node of the job was lost before any of them: an info of such an end, bool.
 */
#define PX_JOB_LOST "xylem.job.lost"

/* Events that may still be on their way to a socket. */
unsigned px_event_left(void);

#endif
