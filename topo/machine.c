/* The parts of a machine's description that do not need hwloc. */
#include "topo/machine.h"

#include <stdlib.h>

void topo_cpus_fini(struct topo_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->count; i++)
        free(cpus->at[i]);
    free(cpus->at);
    *cpus = (struct topo_cpus){0};
}
