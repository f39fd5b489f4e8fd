/* Limits the difference between two clocks. */
#include "job/clock.h"

/* Returns by how much two clocks may have moved apart in this time. */
static int64_t drift_ns(uint64_t from_ns, uint64_t to_ns)
{
    const uint64_t ns = to_ns > from_ns ? to_ns - from_ns : from_ns - to_ns;

    return (int64_t)(ns / (1000000 / JOB_CLOCK_DRIFT_PPM)) + 1;
}

/* Returns by how much the clock here was ahead at most, at a time of the clock
 * here. */
static uint64_t lead_at(const struct job_clock *clock, uint64_t at_ns)
{
    return (uint64_t)(clock->lead_ns + drift_ns(clock->heard_ns, at_ns));
}

void job_clock_hear(struct job_clock *clock, uint64_t sent_ns, uint64_t now_ns)
{
    const int64_t lead_ns = (int64_t)(now_ns - sent_ns);

    if (clock->is_known && (int64_t)lead_at(clock, now_ns) <= lead_ns)
        return;
    *clock = (struct job_clock){lead_ns, now_ns, true};
}

uint64_t job_clock_latest(const struct job_clock *clock, uint64_t at_ns,
                          uint64_t now_ns)
{
    const uint64_t about_ns = at_ns + (uint64_t)clock->lead_ns;
    const uint64_t latest_ns = at_ns + lead_at(clock, about_ns);

    return clock->is_known && latest_ns < now_ns ? latest_ns : now_ns;
}

uint64_t job_clock_earliest_there(const struct job_clock *clock, uint64_t at_ns)
{
    return clock->is_known ? at_ns - lead_at(clock, at_ns) : 0;
}
