/* Knows the variables of a resource manager's tasks. */
#include "endpoints/boot/task_env.h"

#include <stddef.h>
#include <string.h>

bool ep_task_env_has(const char *entry)
{
    /* Slurm's variables that describe the allocation are not among these. */
    static const char *const starts[] = {
        "PMI_",
        "PMI2_",
        "PMIX_",
        "HYDI_",
        "MPI_LOCALNRANKS=",
        "MPI_LOCALRANKID=",
        "SLURMD_NODENAME=",
        "SLURM_CPU_BIND",
        "SLURM_DISTRIBUTION=",
        "SLURM_GTIDS=",
        "SLURM_LAUNCH_NODE_IPADDR=",
        "SLURM_LOCALID=",
        "SLURM_MPI_TYPE=",
        "SLURM_NODEID=",
        "SLURM_PMI",
        "SLURM_PROCID=",
        "SLURM_SRUN_COMM_",
        "SLURM_STEPID=",
        "SLURM_STEP_",
        "SLURM_TASK_PID=",
        "SLURM_TOPOLOGY_ADDR",
        "SLURM_UMASK=",
    };

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (strncmp(entry, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}
