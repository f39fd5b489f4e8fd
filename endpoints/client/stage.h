/* How far a job is, and what its user is told of that. */
#ifndef ENDPOINTS_CLIENT_STAGE_H
#define ENDPOINTS_CLIENT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_seen_job;

enum { EP_STAGE_TEXT_BYTES = 256 };

/* What it has reached, enum job_door_stage; 0: no process of it was started,
 * and what has never begun does not end either. It is over when all processes
 * have ended and all channels, or (is_last) nothing more is heard of them.
 * O(1). */
uint8_t ep_stage_of(const struct ep_seen_job *job, bool is_last);

/* A sentence for the user, in size_bytes. False: the user is not told of it. */
bool ep_stage_text(const struct ep_seen_job *job, uint8_t stage, char *text,
                   size_t size_bytes);

#endif
