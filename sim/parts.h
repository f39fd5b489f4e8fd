/* Parts of struct sim_world, beside nodes and links. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/node.h"
#include "sim/told.h"

enum { SIM_ADDRESS_BYTES = 30 };

struct sim_owed;
struct sim_world;

/* The current step. */
struct sim_step {
    uint64_t now_ns; /* time of the host that is stepped */
    struct ov_out out;
    struct sim_owed *owed; /* events that follow the step */
    uint32_t era;
};

/* The address where a node listens; all nodes have the same text. */
struct sim_address {
    struct ov_buf buf;
    uint8_t mem[SIM_ADDRESS_BYTES];
};

/* The jobs that the launcher has added. */
struct sim_jobs {
    struct sim_told told[SIM_JOBS_MAX];
    uint32_t count;
    uint32_t pushers; /* how many jobs a tool pushes to, whether they are added
                         already or not */
};

struct sim_counts {
    uint64_t digest, steps, items;
    uint32_t leaving; /* how many nodes have left, ended or died */
};

/* How the run ended. */
struct sim_outcome {
    uint64_t at_ns;
    bool is_over;
    bool is_stopped; /* the caller has stopped the run, because its limit of
                        real time was reached */
    char why[256];   /* the first rule that was broken, or "" */
};

/* A function that the simulator calls for each action before it is carried
 * out. */
struct sim_onlooker {
    void (*on_act)(struct sim_world *w, uint32_t n, const struct ov_act *act);
    void *arg; /* for on_act, which may be NULL */
};

#endif
