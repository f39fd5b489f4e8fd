/* The two ends of a connection, each at a link slot of a node, with what the
 * checks know about it. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model.h"

/* The end of a connection at a link slot of a node. */
struct sim_wire {
    uint64_t last_ns; /* when the last thing sent on it arrives */
    uint32_t peer;
    uint32_t era;       /* number of the connection; 0: none */
    uint32_t data_bits; /* frames at the port: bit i is data */
    uint32_t up_limit;  /* to a parent: frames it may have sent in total, */
    uint32_t up_sent;   /* and has sent */
    uint16_t peer_link;
    uint8_t in_flight;
    bool is_up : 1;
    bool is_dialled : 1; /* this end dialled, so it is the child's */
};

_Static_assert(sizeof(struct sim_wire) <= 32, "sim_wire outgrew its budget");

/* What a node knows of the child at a link slot. */
struct sim_child {
    uint32_t up_promised; /* frames that the child may have sent in total */
    uint32_t up_arrived;
    uint32_t down_sent[SIM_STREAMS]; /* number of the next frame to it */
    uint32_t base[SIM_STREAMS];      /* as the child last reported */
    uint16_t up_held;                /* its frames that are not yet passed on */
    bool is_counted;                 /* it was welcomed: bases wait for its
                                        own */
};

#endif
