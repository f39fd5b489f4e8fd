/* The two ends of a connection, each at a link slot of a node, with what the
 * checks have noted about it. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model.h"

/* The end of a connection at a link slot of a node. */
struct sim_wire {
    uint64_t last_ns; /* when the last frame or message sent on it arrives */
    uint32_t peer;
    uint32_t era;       /* number of the connection; 0 when there is none */
    uint32_t data_bits; /* bit i: the i-th oldest frame at the port is data */
    uint32_t up_limit;  /* to a parent: frames that it may have sent in total */
    uint32_t up_sent;   /* to a parent: frames that it has sent */
    uint16_t peer_link;
    uint8_t in_flight;
    bool is_up : 1;
    bool is_dialled : 1; /* this end has dialled, so it is the child's end */
};

_Static_assert(sizeof(struct sim_wire) <= 32, "sim_wire outgrew its budget");

/* What a node knows of the child at a link slot. */
struct sim_child {
    uint32_t up_promised; /* frames that the child may have sent in total */
    uint32_t up_arrived;
    uint32_t down_sent[SIM_STREAMS]; /* number of the next frame to the child */
    uint32_t base[SIM_STREAMS];      /* the base that the child last reported */
    uint16_t up_held;                /* frames of the child that the node has
                                        not passed on yet */
    bool is_counted;                 /* the child was welcomed, so the node's
                                        bases must not pass those of the
                                        child */
};

#endif
