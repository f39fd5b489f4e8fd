/* The tree of `xylem sim`: its arity, and the switches of --topology. */
#ifndef COMMANDS_SIM_FABRIC_H
#define COMMANDS_SIM_FABRIC_H

#include "topo/fabric.h"
#include "topo/shape.h"

struct sim_options;

struct sim_fabric {
    struct topo_fabric fabric; /* all members are empty without --topology */
    struct topo_shape shape;
    uint32_t *under; /* owned [nodes]: the switch of each node */
};

/* Reads the file of --topology. On failure it prints a sentence and ends the
 * program with exit code 2 or 1. */
void sim_fabric_read(struct sim_fabric *fabric, const char *path);

/* Completes the options: the number of nodes, the arity (given, or chosen by
 * the cost model), and the tree over the switches. The first hosts of the file
 * become nodes 1, 2 ... of the tree; the launcher is under no switch. On
 * failure it prints a sentence and ends the program with exit code 2 or 1. */
void sim_fabric_plan(struct sim_options *options);

#endif
