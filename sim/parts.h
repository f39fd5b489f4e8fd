/* What a world has beside its nodes and links. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/node.h"
#include "sim/told.h"

enum { SIM_ADDRESS_BYTES = 30 };

struct sim_owed;
struct sim_world;

/* The step going on. */
struct sim_step {
    uint64_t now_ns; /* of the host that is stepped */
    struct ov_out out;
    struct sim_owed *owed; /* events that follow it */
    uint32_t era;
};

/* Where a node listens; all say the same. */
struct sim_address {
    struct ov_buf buf;
    uint8_t mem[SIM_ADDRESS_BYTES];
};

/* Jobs beside the first. */
struct sim_jobs {
    struct sim_told told[SIM_JOBS_MAX];
    uint32_t count;
    uint32_t pushers; /* those that a tool pushes to, told or not */
};

struct sim_counts {
    uint64_t digest, steps, items;
    uint32_t leaving; /* nodes that left, ended or died */
};

/* How the run ended. */
struct sim_outcome {
    uint64_t at_ns;
    bool is_over;
    bool is_stopped; /* its owner did, when real time was over */
    char why[256];   /* the first rule that broke, or "" */
};

/* An onlooker is told of each action before it is carried out. */
struct sim_onlooker {
    void (*on_act)(struct sim_world *w, uint32_t n, const struct ov_act *act);
    void *arg; /* on_act may be NULL */
};

#endif
