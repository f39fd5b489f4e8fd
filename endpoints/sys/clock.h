/* The clocks. */
#ifndef ENDPOINTS_SYS_CLOCK_H
#define ENDPOINTS_SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ep_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The time of day since 1970, for people. It may jump. */
static inline uint64_t ep_clock_unix_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Milliseconds of the clock that never jumps; signed, because differences are
 * compared. */
static inline int64_t ep_clock_ms(void)
{
    return (int64_t)(ep_clock_ns() / 1000000);
}

#endif
