/* What is done when very many processes share few processors, as those of
 * virtual nodes on one machine do.
 *
 * A daemon there is one of thousands that want a processor. It has to start all
 * its processes, and to answer its neighbours meanwhile; between two of its
 * turns there may be thousands of turns of others. So processes get a lower
 * priority than the daemon, neighbours have more patience, and daemons are
 * started a few at a time.
 */
#ifndef ENDPOINTS_HUB_CROWD_H
#define ENDPOINTS_HUB_CROWD_H

#include <stdint.h>

/* Up to this many processes for each processor keep their priority. */
enum { EP_CROWD_EASY = 256 };

struct ep_crowd {
    uint32_t heartbeat_ms; /* default of the heartbeat time */
    uint32_t starting;     /* daemons that are started at the same time */
    uint8_t nice;          /* nice value of the job's processes */
};

/* The values for so many processes, or nodes if these are more, on a machine
 * that lets us use so many processors (0 counts as 1). Pure, O(1). */
struct ep_crowd ep_crowd_of(uint64_t procs, uint32_t processors);

#endif
