/* Waits for a descriptor to become ready. */
#include "config.h"

#include "endpoints/sys/ready.h"

#include <errno.h>
#include <poll.h>

#include "endpoints/sys/clock.h"

static int left_ms(int64_t end_ms)
{
    int64_t left = end_ms - ep_clock_ms();

    return left > 0 ? (int)left : 0;
}

bool ep_ready(int fd, short events, int wait_ms)
{
    struct pollfd ready = {.fd = fd, .events = events};
    int64_t end_ms = ep_clock_ms() + wait_ms;
    int count;

    do {
        count = poll(&ready, 1, wait_ms < 0 ? -1 : left_ms(end_ms));
    } while (count < 0 && errno == EINTR);
    if (count == 0)
        errno = ETIMEDOUT;
    return count > 0;
}
