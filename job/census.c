/* Groups processes by how they ended, and picks the groups to show. */
#include "job/census.h"

#include <string.h>
#include <sys/wait.h>

static struct job_exits key_of(int status, enum job_exit_cause cause)
{
    struct job_exits key = {.cause = (uint8_t)cause};

    if (cause == JOB_EXIT_ITSELF || cause == JOB_EXIT_SIGNAL)
        key.status =
            (uint16_t)(WIFSIGNALED(status) ? WTERMSIG(status) : status);
    return key;
}

static bool is_alike(const struct job_exits *a, const struct job_exits *b)
{
    return a->status == b->status && a->cause == b->cause;
}

uint8_t job_census_add(struct job_census *census, uint32_t rank, int status,
                       enum job_exit_cause cause)
{
    const struct job_exits key = key_of(status, cause);
    struct job_exits *group;
    uint32_t at = 0;

    while (at < census->count && !is_alike(&census->groups[at], &key))
        at++;
    if (at == JOB_CENSUS_GROUPS)
        at--;
    group = &census->groups[at];
    if (at == census->count) {
        census->count++;
        *group = key;
        group->first = rank;
        if (at == JOB_CENSUS_GROUPS - 1) {
            group->cause = JOB_EXIT_OTHER;
            group->status = 0;
        }
    }
    group->count++;
    if (rank < group->first)
        group->first = rank;
    return (uint8_t)at;
}

/* OTHER comes last among the failed ones, whatever its size is. */
static bool is_before(const struct job_exits *a, const struct job_exits *b)
{
    static const uint8_t turns[JOB_EXIT_CAUSES] = {
        [JOB_EXIT_ITSELF] = 0,
        [JOB_EXIT_OTHER] = 1,
        [JOB_EXIT_SIGNAL] = 2,
        [JOB_EXIT_KILLED] = 3,
    };

    if (a->cause != b->cause)
        return turns[a->cause] < turns[b->cause];
    return a->count != b->count ? a->count > b->count : a->first < b->first;
}

/* Sorts the groups, except a group that consists of the process `named` alone.
 * Returns how many they are. */
static uint32_t sort(const struct job_census *census, uint32_t named,
                     uint8_t *order)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < census->count; i++) {
        uint32_t at = count;

        if (census->groups[i].count == 1 && census->groups[i].first == named)
            continue;
        for (; at > 0 &&
               is_before(&census->groups[i], &census->groups[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
        count++;
    }
    return count;
}

void job_census_view(const struct job_census *census, uint32_t lines,
                     uint32_t named, struct job_census_view *view)
{
    uint32_t failed = 0, drop, end, count;

    *view = (struct job_census_view){0};
    count = sort(census, named, view->shown);
    view->shown_count = count;
    if (count <= lines)
        return;
    while (failed < count &&
           census->groups[view->shown[failed]].cause != JOB_EXIT_SIGNAL &&
           census->groups[view->shown[failed]].cause != JOB_EXIT_KILLED)
        failed++;
    drop = count - (lines - 1);
    end = failed >= drop ? failed : count;
    for (uint32_t i = end - drop; i < end; i++)
        view->left_processes += census->groups[view->shown[i]].count;
    memmove(view->shown + end - drop, view->shown + end, count - end);
    view->left_groups = drop;
    view->shown_count = count - drop;
}
