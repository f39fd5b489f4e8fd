/* Compares what was seen of a process with what was seen of it before. */
#include "job/stall.h"

static bool has_moved(const struct job_stall_sample *last,
                      const struct job_stall_sample *now, bool counts_compute)
{
    if (counts_compute &&
        (now->cpu_ticks != last->cpu_ticks || now->doing == JOB_DOING_COMPUTES))
        return true;
    return now->moved_bytes != last->moved_bytes ||
           now->output_bytes != last->output_bytes ||
           now->members != last->members;
}

enum job_doing job_stall_step(struct job_stall *stall,
                              const struct job_stall_limit *limit,
                              const struct job_stall_sample *sample,
                              uint64_t now_ns)
{
    const bool was_told = stall->is_told;
    const bool moves = stall->since_ns == 0 ||
                       has_moved(&stall->last, sample, limit->counts_compute);

    if (stall->is_paused)
        return JOB_DOING_UNKNOWN;
    stall->last = *sample;
    if (moves) {
        stall->since_ns = now_ns;
        stall->is_told = false;
        return was_told ? JOB_DOING_GOES_ON : JOB_DOING_UNKNOWN;
    }
    if (was_told || limit->ns == 0 || now_ns - stall->since_ns < limit->ns)
        return JOB_DOING_UNKNOWN;
    stall->is_told = true;
    return sample->doing;
}

void job_stall_pause(struct job_stall *stall, bool is_paused)
{
    stall->is_paused = is_paused;
    stall->since_ns = 0;
}

uint64_t job_stall_pace(uint64_t took_ns, uint64_t due_ns)
{
    uint64_t pace_ns = JOB_STALL_LOOK_MS * UINT64_C(1000000);

    if (took_ns * JOB_STALL_COST_SHARE > pace_ns)
        pace_ns = took_ns * JOB_STALL_COST_SHARE;
    return due_ns < pace_ns ? due_ns : pace_ns;
}
