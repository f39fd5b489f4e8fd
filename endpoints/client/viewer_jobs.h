/* What becomes of jobs and of their processes, as of struct ep_tap_ops. */
#ifndef ENDPOINTS_CLIENT_VIEWER_JOBS_H
#define ENDPOINTS_CLIENT_VIEWER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_seen_job;
struct ep_tap_job;
struct ep_viewers;

void ep_viewers_has_stdin(void *tap, uint32_t first, uint32_t last,
                          bool is_open);
void ep_viewers_behind(void *tap, uint32_t number, bool is_behind);
void ep_viewers_started(void *tap, uint32_t number, const uint32_t *pids,
                        uint32_t count);
void ep_viewers_exit(void *tap, uint32_t number, uint32_t status);
void ep_viewers_job(void *tap, const struct ep_tap_job *told);
/* A job begins. False: out of memory. */
bool ep_viewers_job_add(struct ep_viewers *all, const struct ep_seen_job *like);

#endif
