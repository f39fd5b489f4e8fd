/* The checks' own records about a node: what it holds, and how far its records
 * have come. The checks compute all of it themselves, and take none of it from
 * the core. */
#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include <stdint.h>

#include "sim/model.h"

struct sim_books {
    uint32_t records;     /* records that the node has read from its inputs */
    uint32_t shown;       /* records of the node that the root has passed to the
                             console */
    uint32_t taken;       /* records of the node that the console has taken */
    uint32_t released;    /* records that the node has freed, after it learnt
                             that they were taken */
    uint32_t own_bytes;   /* bytes of its own records that the node holds */
    uint32_t held_bytes;  /* bytes of all frames and records that the node
                             holds */
    uint32_t owed_frames; /* frames that the node has allowed its children to
                             send and is not yet done with */
    uint16_t held_frames;
    uint16_t stream_held[SIM_STREAMS];
};

#endif
