/* The tree of `xylem sim`: its arity, and the switches of --topology. */
#ifndef COMMANDS_SIM_FABRIC_H
#define COMMANDS_SIM_FABRIC_H

#include "topo/fabric.h"
#include "topo/shape.h"

struct sim_options;

struct sim_fabric {
    struct topo_fabric fabric; /* without --topology empty, as the others */
    struct topo_shape shape;
    uint32_t *under; /* owned [nodes]: of each node its switch */
};

/* Reads the file; ends the program with exit code 2 or 1 and a sentence when
 * that cannot be done. */
void sim_fabric_read(struct sim_fabric *fabric, const char *path);

/* Makes the plan of the options what they say: so many nodes, the arity or
 * that of the model, and a tree over the switches. The first hosts of the file
 * are nodes 1, 2 ... by the tree; the launcher is under no switch. Ends the
 * program as above. */
void sim_fabric_plan(struct sim_options *options);

#endif
