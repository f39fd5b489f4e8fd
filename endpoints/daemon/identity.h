/* The environment variables that tell a process its rank and place in the
 * job. */
#ifndef ENDPOINTS_DAEMON_IDENTITY_H
#define ENDPOINTS_DAEMON_IDENTITY_H

#include <stdint.h>

#include "job/job.h"

enum { EP_IDENTITY_VARS = 6 };

struct ep_identity {
    char vars[EP_IDENTITY_VARS][40];
    /* The variables that were filled in, NULL-terminated. */
    const char *env[EP_IDENTITY_VARS + 2];
};

/* Fills in the variables of a process: it has this rank and is number
 * local_rank on its host, which is number `place` of the job's hosts. `mark` is
 * borrowed: the daemon's mark as "NAME=value"; "" when the daemon has no
 * mark. */
void ep_identity_fill(struct ep_identity *identity, const struct job *job,
                      uint32_t place, uint32_t rank, uint32_t local_rank,
                      const char *mark);

#endif
