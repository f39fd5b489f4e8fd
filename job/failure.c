/* Determines which of the processes that ended badly was the first. */
#include "job/failure.h"

#include <sys/wait.h>

enum { EXIT_LOST = 1 };

static const uint64_t same_ns = 100 * UINT64_C(1000000);

void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     uint64_t now_ns)
{
    bool is_first = failure->count == 0;

    failure->count++;
    if (is_first)
        failure->since_ns = now_ns;
    else if (rank >= failure->rank || now_ns - failure->since_ns >= same_ns)
        return;
    failure->rank = rank;
    failure->status = status;
}

void job_failure_lost(struct job_failure *failure)
{
    if (failure->count == 0)
        failure->is_lost = true;
}

int job_failure_exit(const struct job_failure *failure)
{
    if (failure->is_lost)
        return EXIT_LOST;
    return failure->count > 0 ? job_failure_code(failure->status) : 0;
}

int job_failure_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
