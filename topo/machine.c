/* What is known of a machine: all that takes no hwloc. */
#include "topo/machine.h"

#include <stdio.h>
#include <stdlib.h>

void topo_cpus_fini(struct topo_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->count; i++)
        free(cpus->at[i]);
    free(cpus->at);
    *cpus = (struct topo_cpus){0};
}

uint32_t topo_machine_count(const struct topo_machine *machine,
                            enum topo_object object)
{
    return object == TOPO_CORE ? machine->cores : machine->packages;
}

void topo_machine_name(const struct topo_machine *machine, char *text,
                       size_t size_bytes)
{
    snprintf(text, size_bytes, "%u socket%s with %u core%s", machine->packages,
             machine->packages == 1 ? "" : "s", machine->cores,
             machine->cores == 1 ? "" : "s");
}
