/* The stage that a job has reached, and what its user is told about it. */
#ifndef ENDPOINTS_CLIENT_STAGE_H
#define ENDPOINTS_CLIENT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_seen_job;

enum { EP_STAGE_TEXT_BYTES = 256 };

/* Returns the stage that a job has reached (enum job_door_stage); 0 when none
 * of its processes was started, and also when it then ends. A job is over when
 * all its processes have ended, and either all channels have ended, too, or
 * (is_last) nothing more will be heard about channels. O(1). */
uint8_t ep_stage_of(const struct ep_seen_job *job, bool is_last);

/* Writes a sentence about the stage for the user into `text` of size_bytes.
 * Returns false when the user does not want to be told about this stage. */
bool ep_stage_text(const struct ep_seen_job *job, uint8_t stage, char *text,
                   size_t size_bytes);

#endif
