/* Jobs as viewers know them. */
#ifndef ENDPOINTS_CLIENT_VIEWER_JOBS_H
#define ENDPOINTS_CLIENT_VIEWER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_seen_job;
struct ep_viewers;

/* Finds the job with this process; NULL: no such job is known here. */
struct ep_seen_job *ep_viewers_seen(const struct ep_viewers *all,
                                    uint32_t number);
/* A job begins. False: out of memory. */
bool ep_viewers_job_add(struct ep_viewers *all, const struct ep_seen_job *like);

#endif
