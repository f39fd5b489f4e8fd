/* What is written down of a node: what it holds, and what became of its
 * records. Nothing of it is asked of the core. */
#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include <stdint.h>

#include "sim/model.h"

struct sim_books {
    uint32_t records;     /* handed in, */
    uint32_t shown;       /* to the console, */
    uint32_t taken;       /* by it, */
    uint32_t released;    /* and so heard */
    uint32_t own_bytes;   /* of records held here */
    uint32_t held_bytes;  /* of all frames and records */
    uint32_t owed_frames; /* promised to children and not yet done with */
    uint16_t held_frames;
    uint16_t stream_held[SIM_STREAMS];
};

#endif
