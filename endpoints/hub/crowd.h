/* What is done where very many processes share few processors, as those of
 * virtual nodes on one machine do.
 *
 * A daemon there is one of thousands that want a processor. It has to start
 * them all, and to answer its neighbours meanwhile; each of its turns may be
 * thousands of turns of others away. So processes give way to it, neighbours
 * have more patience, and daemons are started a few at a time.
 */
#ifndef ENDPOINTS_HUB_CROWD_H
#define ENDPOINTS_HUB_CROWD_H

#include <stdint.h>

/* So many processes for each processor give way to nobody. */
enum { EP_CROWD_EASY = 256 };

struct ep_crowd {
    uint32_t heartbeat_ms; /* where the user does not say how long it is */
    uint32_t starting;     /* daemons that are started at a time */
    uint8_t nice;          /* steps by which processes of the job give way */
};

/* For so many processes, or nodes where those are more, on a machine that lets
 * us use so many processors (0 counts as 1). Pure, O(1). */
struct ep_crowd ep_crowd_of(uint64_t procs, uint32_t processors);

#endif
