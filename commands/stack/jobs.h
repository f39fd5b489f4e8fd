/* Finds the job that the user means in a session, and what its processes
 * are. */
#ifndef COMMANDS_STACK_JOBS_H
#define COMMANDS_STACK_JOBS_H

#include <stdint.h>

#include "endpoints/client/sessions.h"

struct ep_table;

struct stack_job {
    char name[JOB_DOOR_TEXT_MAX];
    uint32_t base, size;
    struct ep_table *table; /* owned */
};

/* Watches the session, and asks it about the job of this name or, with NULL,
 * about its own job, or the only one of a dvm. Blocks until the session
 * answers. Returns 0; or 1 after it has reported what is wrong. */
int stack_job_find(const struct ep_session *session, const char *name,
                   struct stack_job *out);

#endif
