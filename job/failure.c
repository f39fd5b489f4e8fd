/* The first of those that ended badly. */
#include "job/failure.h"

#include <stdbool.h>
#include <sys/wait.h>

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

int job_failure_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
