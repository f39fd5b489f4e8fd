/* What the checks write down about a node: what it holds, and what became of
 * its records. None of it comes from the core. */
#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include <stdint.h>

#include "sim/model.h"

struct sim_books {
    uint32_t records;     /* handed to the node, */
    uint32_t shown;       /* passed to the console, */
    uint32_t taken;       /* taken by the console, */
    uint32_t released;    /* and known to be taken */
    uint32_t own_bytes;   /* bytes of its own records that it holds */
    uint32_t held_bytes;  /* bytes of all frames and records that it holds */
    uint32_t owed_frames; /* promised to children and not yet done with */
    uint16_t held_frames;
    uint16_t stream_held[SIM_STREAMS];
};

#endif
