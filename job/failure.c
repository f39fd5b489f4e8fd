/* Determines which of the processes that ended badly was the first. */
#include "job/failure.h"

#include <string.h>
#include <sys/wait.h>

enum { EXIT_LOST = 1 };

/* Returns the failure that was over first, of those that are kept. */
static uint32_t soonest(const struct job_failure *failure)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < failure->firsts_count; i++) {
        if (failure->firsts[i].at.latest_ns <
            failure->firsts[best].at.latest_ns)
            best = i;
    }
    return best;
}

static void drop(struct job_failure *failure, uint32_t i)
{
    failure->firsts_count--;
    memmove(&failure->firsts[i], &failure->firsts[i + 1],
            (failure->firsts_count - i) * sizeof(failure->firsts[0]));
}

/* Drops failures that came after another one was over. */
static void drop_later(struct job_failure *failure, uint64_t latest_ns)
{
    for (uint32_t i = failure->firsts_count; i-- > 0;) {
        if (failure->firsts[i].at.earliest_ns > latest_ns)
            drop(failure, i);
    }
}

/* Makes room for one more failure, whose rank is given. Returns false when the
 * new failure itself has to be left out. The failure that certainly ended first
 * stays in any case, as it may turn out to be the first. */
static bool make_room(struct job_failure *failure, const struct job_first *new)
{
    const uint32_t kept = soonest(failure);
    uint32_t highest = JOB_FAILURE_FIRSTS - 1;

    if (failure->firsts_count < JOB_FAILURE_FIRSTS)
        return true;
    if (highest == kept)
        highest--;
    if (new->rank > failure->firsts[highest].rank &&new->at.latest_ns >=
        failure->firsts[kept].at.latest_ns)
        return false;
    drop(failure, new->at.latest_ns < failure->firsts[kept].at.latest_ns
                      ? JOB_FAILURE_FIRSTS - 1
                      : highest);
    return true;
}

static void insert(struct job_failure *failure, const struct job_first *new)
{
    uint32_t i = failure->firsts_count++;

    for (; i > 0 && failure->firsts[i - 1].rank > new->rank; i--)
        failure->firsts[i] = failure->firsts[i - 1];
    failure->firsts[i] = *new;
}

void job_failure_add(struct job_failure *failure, uint32_t rank, int status,
                     struct job_span at)
{
    const struct job_first new = {at, rank, status};

    failure->count++;
    if (failure->firsts_count > 0 &&
        at.earliest_ns > failure->firsts[soonest(failure)].at.latest_ns)
        return;
    drop_later(failure, at.latest_ns);
    if (make_room(failure, &new))
        insert(failure, &new);
    failure->rank = failure->firsts[0].rank;
    failure->status = failure->firsts[0].status;
}

void job_failure_lost(struct job_failure *failure)
{
    if (failure->count == 0)
        failure->is_lost = true;
}

uint64_t job_failure_unsure_ns(const struct job_failure *failure)
{
    uint64_t earliest_ns = UINT64_MAX, latest_ns = 0;

    if (failure->firsts_count < 2)
        return 0;
    for (uint32_t i = 0; i < failure->firsts_count; i++) {
        const struct job_span *at = &failure->firsts[i].at;

        if (at->earliest_ns < earliest_ns)
            earliest_ns = at->earliest_ns;
        if (at->latest_ns > latest_ns)
            latest_ns = at->latest_ns;
    }
    return latest_ns - earliest_ns;
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
