/* Computes the times that follow from the heartbeat time, and checks the order
 * of all times. */
#include "overlay/times.h"

#include <stddef.h>

void ov_times_set(struct ov_times *times, uint64_t heartbeat_ns)
{
    times->heartbeat_ns = heartbeat_ns;
    times->attempt_ns = heartbeat_ns / 4;
    times->letgo_ns = heartbeat_ns / 2;
    times->refused_ns = heartbeat_ns / 20;
    times->adoption_ns = 3 * heartbeat_ns + times->letgo_ns;
    times->giveup_ns = 2 * times->adoption_ns;
    times->launch_ns = times->giveup_ns;
}

const char *ov_times_fault(const struct ov_times *times)
{
    if (times->attempt_ns >= times->letgo_ns)
        return "the attempt time must be shorter than the let-go time";
    if (times->letgo_ns >= times->heartbeat_ns)
        return "the let-go time must be shorter than the heartbeat time";
    if (times->adoption_ns < 3 * times->heartbeat_ns + times->letgo_ns)
        return "the adoption time must be at least three heartbeat times "
               "plus the let-go time";
    if (times->giveup_ns <= times->adoption_ns)
        return "the give-up time must be longer than the adoption time";
    if (times->launch_ns < times->giveup_ns)
        return "the launch time must be at least the give-up time";
    if (times->refused_ns == 0 || times->attempt_ns == 0 ||
        times->ack_ns == 0 || times->base_ns == 0 || times->stall_ns == 0)
        return "the attempt, refused, ack, base and stall times must not be "
               "zero";
    return NULL;
}
