/* What tools are told of the job's course. */
#ifndef PMIX_API_HELPER_EVENT_H
#define PMIX_API_HELPER_EVENT_H

#include <stdint.h>

#include "pmix_api/wire.h"

/* Notifies all tools that want to know, now or when they register. In the main
 * thread. */
void px_event_stage(const struct px_stage *stage);

/* Events that may still be on their way to a socket. */
unsigned px_event_left(void);

#endif
