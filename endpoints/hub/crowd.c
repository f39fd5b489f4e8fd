/* Times and priorities for very many processes: pure arithmetic.
 *
 * The numbers are for Linux with ticks of 4 ms. A process that computes has its
 * processor for a tick, so among n of them a daemon waits for up to 4 n ms. A
 * node may be delayed by half of the heartbeat time (docs/protocol.md).
 * Measured with 5,000 processes for each of two processors, which were started
 * and read 1 MiB each, with two busy loops beside them: messages of a neighbour
 * came 9 to 13 s later than they should have. Computing processes are worse
 * than that, because a daemon needs many turns for a round of its loop. With
 * 1,000 for each processor rounds took up to 127 s, for 3 s of work, and 90 s
 * were not enough to kill all of them. A step of nice gives the daemons, whose
 * nice value is unchanged, a quarter more of the processor.
 *
 * Nice has a price: 250 short processes for each processor took five percent
 * longer with it. It is not always needed either: without it 256 computing
 * processes, each a node of its own, on one processor beside much other work,
 * were all started after 15 s, no neighbour was silent for too long, and 4 s
 * after `kill -9` of the launcher all of them had ended. So up to that number
 * processes keep their priority.
 */
#include "endpoints/hub/crowd.h"

enum {
    HEARTBEAT_MS = 10000, /* for hosts, and for a machine with few processes */
    HEARTBEAT_EACH_MS = 10,
    HEARTBEAT_MAX_MS = 600000,
    NICE_MAX = 19,
    /* all niced processes together weigh as much as this many others */
    SHARE = 32,
    STARTING_EACH = 4, /* daemons started at the same time for each processor */
    STARTING_MIN = 8,
    STARTING_MAX = 64,
};

static uint32_t within(uint64_t value, uint32_t min, uint32_t max)
{
    if (value < min)
        return min;
    return value < max ? (uint32_t)value : max;
}

struct ep_crowd ep_crowd_of(uint64_t procs, uint32_t processors)
{
    uint64_t each = processors > 0 ? (procs - 1) / processors + 1 : procs;
    /* How many processes of that nice value weigh as much as SHARE others. */
    uint64_t share = SHARE;
    struct ep_crowd crowd;

    if (procs == 0)
        each = 0;
    crowd.heartbeat_ms = within(
        each < HEARTBEAT_MAX_MS ? each * HEARTBEAT_EACH_MS : HEARTBEAT_MAX_MS,
        HEARTBEAT_MS, HEARTBEAT_MAX_MS);
    crowd.starting = within((uint64_t)processors * STARTING_EACH, STARTING_MIN,
                            STARTING_MAX);
    crowd.nice = 0;
    while (each > EP_CROWD_EASY && crowd.nice < NICE_MAX && share < each) {
        share += share / 4;
        crowd.nice++;
    }
    return crowd;
}
