/* This machine: how much of it there is for processes to run on.
 *
 * The only part of xylem that knows hwloc. What counts is what this process
 * may use: a container's or batch system's cut-down set of processors, and
 * its own binding. A limit on processor time (a quota) does not count.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stdint.h>

#include "topo/why.h"

/* Each at least 1. A core counts when one of its PUs may be used. */
struct topo_machine {
    uint32_t packages; /* sockets */
    uint32_t numa;     /* memory nodes near a usable PU */
    uint32_t cores;
    uint32_t pus; /* hardware threads */
};

/* Looks at this machine, or at one that `lstopo FILE.xml` has recorded when
 * xml_path is not NULL. Nothing stays open or allocated; processes and the
 * environment are left as they are.
 * Cost: some milliseconds, 10 to 100 on machines of hundreds of cores.
 * Returns 0, OV_EINVAL (the file is not there or no topology), OV_ENOMEM or
 * OV_ESYS with a sentence in why (TOPO_WHY_MAX bytes, may be NULL).
 */
int topo_machine_load(struct topo_machine *out, const char *xml_path,
                      char *why);

#endif
