/* The jobs of the session that viewers can look at. */
#ifndef ENDPOINTS_CLIENT_VIEWER_JOBS_H
#define ENDPOINTS_CLIENT_VIEWER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_seen_job;
struct ep_viewers;

/* Finds the job with the process of this number. Returns NULL when there is no
 * such job. */
struct ep_seen_job *ep_viewers_seen(const struct ep_viewers *all,
                                    uint32_t number);
/* Adds a job that begins. Returns false when memory is out. */
bool ep_viewers_job_add(struct ep_viewers *all, const struct ep_seen_job *like);

#endif
