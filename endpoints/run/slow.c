/* What is said of processes of further jobs that do not read their stdin. */
#include "endpoints/run/slow.h"

#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/tap.h"

bool ep_run_slow_said(struct run *r, const struct job *job,
                      const struct job_word *state)
{
    uint32_t rank = state->rank - job->base;
    const char *host = ep_run_host(r, job_node_of(job, rank, NULL));

    switch ((enum job_stdin_event)state->stdin_event) {
    case JOB_STDIN_FULL:
    case JOB_STDIN_UNSAVED:
        ep_run_say(r,
                   "rank %u of a further job on %s does not read its stdin, "
                   "and no more of it is spilled: pushes wait for it",
                   rank, host);
        break;
    case JOB_STDIN_CLOSED:
        ep_run_say(r,
                   "rank %u of a further job on %s has not read its stdin for "
                   "%g s: it is closed",
                   rank, host, job->close_ms / 1000.0);
        ep_run_tap_stdin(r, state->rank, state->rank, false);
        break;
    case JOB_STDIN_LOST:
        ep_run_say(r,
                   "spilled stdin of rank %u of a further job on %s cannot be "
                   "read back: %s; that job ends",
                   rank, host, strerror((int)state->err));
        return true;
    case JOB_STDIN_EVENTS:
        break;
    }
    return false;
}
