/* Settings for very many processes that share few processors, as those of
 * virtual nodes on one machine do.
 *
 * A daemon on such a machine is one of thousands that want a processor. It has
 * to start all its processes, and meanwhile has to answer its neighbours in the
 * tree, while thousands of other processes may run between two of its turns. So
 * processes get a lower priority than the daemon, neighbours wait longer for an
 * answer, and few daemons are started at a time.
 */
#ifndef ENDPOINTS_HUB_CROWD_H
#define ENDPOINTS_HUB_CROWD_H

#include <stdint.h>

/* Up to this many processes for each processor keep their priority. */
enum { EP_CROWD_EASY = 256 };

struct ep_crowd {
    uint32_t heartbeat_ms; /* default of the heartbeat time */
    uint32_t starting;     /* how many daemons are started at the same time */
    uint8_t nice;          /* nice value for the job's processes */
};

/* Returns the settings for this many processes (or nodes, if these are more) on
 * a machine that lets us use this many processors (0 counts as 1). Pure,
 * O(1). */
struct ep_crowd ep_crowd_of(uint64_t procs, uint32_t processors);

#endif
