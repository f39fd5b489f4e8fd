/* What a process is told about its place in the job, in its environment. */
#ifndef ENDPOINTS_DAEMON_IDENTITY_H
#define ENDPOINTS_DAEMON_IDENTITY_H

#include <stdint.h>

#include "job/job.h"

enum { EP_IDENTITY_VARS = 6 };

struct ep_identity {
    char vars[EP_IDENTITY_VARS][40];
    const char *env[EP_IDENTITY_VARS + 2]; /* those it has, NULL-terminated */
};

/* The local_rank-th process of the host at that place, which has that rank.
 * `mark` is borrowed: its daemon's, a setting; "": it has none. */
void ep_identity_fill(struct ep_identity *identity, const struct job *job,
                      uint32_t place, uint32_t rank, uint32_t local_rank,
                      const char *mark);

#endif
