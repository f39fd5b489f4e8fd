/* The two ends of a connection, each at a link slot of a node, with what the
 * checks know there. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model.h"

/* The end of a connection at a link slot of a node. */
struct sim_wire {
    uint64_t last_ns; /* what was sent on it last arrives then */
    uint32_t peer;
    uint32_t era;       /* of the connection; 0: none */
    uint32_t data_bits; /* frames at the port: bit i is data */
    uint32_t up_limit;  /* to a parent: frames it may have sent, */
    uint32_t up_sent;   /* and has */
    uint16_t peer_link;
    uint8_t in_flight;
    bool is_up : 1;
    bool is_dialled : 1; /* this end is the child's */
};

_Static_assert(sizeof(struct sim_wire) <= 32, "sim_wire outgrew its budget");

/* What a node knows of the child at a link slot. */
struct sim_child {
    uint32_t up_promised; /* frames it may have sent */
    uint32_t up_arrived;
    uint32_t down_sent[SIM_STREAMS]; /* next frame to it */
    uint32_t base[SIM_STREAMS];      /* as it was heard */
    uint16_t up_held;                /* frames of it, not yet passed on */
    bool is_counted;                 /* welcomed: bases wait for its own */
};

#endif
