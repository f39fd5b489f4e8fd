/* Looks up this machine's objects, as topo/machine.h describes them, with a
 * module that is loaded when it is first needed. */
#ifndef ENDPOINTS_SYS_MACHINE_H
#define ENDPOINTS_SYS_MACHINE_H

#include "topo/machine.h"

/* Call topo_machine_load() and topo_machine_cpus() for this machine. Return
 * what these return, or OV_ENOENT: the module is missing, or has another
 * version. The sentence in why takes TOPO_WHY_MAX bytes. */
int ep_machine_load(struct topo_machine *out, char *why);
int ep_machine_cpus(struct topo_cpus *out, enum topo_object object, char *why);

#endif
