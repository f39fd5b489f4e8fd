/* What a process is told about its place in the job, in its environment. */
#ifndef ENDPOINTS_DAEMON_IDENTITY_H
#define ENDPOINTS_DAEMON_IDENTITY_H

#include <stdint.h>

#include "job/job.h"

enum { EP_IDENTITY_VARS = 6 };

struct ep_identity {
    char vars[EP_IDENTITY_VARS][40];
    /* The settings that are set, NULL-terminated. */
    const char *env[EP_IDENTITY_VARS + 2];
};

/* Fills in the variables of a process: the local_rank-th one of the host at
 * that place, with that rank. `mark` is borrowed: the daemon's mark, a setting;
 * "": it has none. */
void ep_identity_fill(struct ep_identity *identity, const struct job *job,
                      uint32_t place, uint32_t rank, uint32_t local_rank,
                      const char *mark);

#endif
