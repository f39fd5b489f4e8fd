/* The words of wire.h about pushing to stdin.
 *
 *     10 STDIN    u8 what, u32 first rank, u32 last: enum px_stdin_what; from
 *                 the launcher
 *     11 GRANT    u32 bytes, u32 message bytes: PUSHes of so many bytes more
 *                 may come, by px_push_cost(), each with so many bytes at most;
 *                 from the launcher
 *     15 HELD     the answer to PUSHER: what the launcher had to say of STDIN
 *                 by then was said before it
 *     25 PUSH     u32 length, bytes: a message as of overlay/wire/push.h
 *     26 REST     no tool that has pushed is left, and all of it was sent
 *     29 PUSHER   a tool pushes to the run's own job: the end of the launcher's
 *                 stdin is not to end that of the processes, up to REST; before
 *                 its first PUSH
 *
 * What was sent is the launcher's: it hears it also when the helper has died
 * since, and keeps it until it goes on its way.
 */
#ifndef PMIX_API_WIRE_PUSH_H
#define PMIX_API_WIRE_PUSH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PX_PUSH_BYTES_MAX = 32 * 1024,      /* in one PUSH */
    PX_PUSH_HEAD_BYTES = 5,             /* before its bytes, kind included */
    PX_PUSH_COST_BYTES = 1024,          /* of each for the kernel, or memory */
    PX_PUSH_WINDOW_MIN = 64 * 1024,     /* granted at a time: what the socket */
    PX_PUSH_WINDOW_BYTES = 1024 * 1024, /* has room for, but this at most */
};

/* What is said of the stdin of processes. */
enum px_stdin_what {
    PX_STDIN_SHUT,  /* they cannot be pushed to, or no longer */
    PX_STDIN_READY, /* they can */
    PX_STDIN_FULL,  /* their job, which they all are, has no room for more */
    PX_STDIN_FREE,  /* it has again */
    PX_STDIN_WHATS
};

struct px_stdin {
    uint8_t what; /* enum px_stdin_what */
    uint32_t first, last;
};

struct px_grant {
    uint32_t bytes;
    uint32_t message_bytes;
};

struct px_push {
    uint32_t len_bytes;
    const uint8_t *mem; /* borrowed */
};

/* Of the bytes that were granted. */
static inline uint32_t px_push_cost(uint32_t len_bytes)
{
    return len_bytes + PX_PUSH_COST_BYTES;
}

#endif
