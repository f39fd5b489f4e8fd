/* Reports the machine's cores to the launcher, when the launcher places
 * processes by them. */
#include <stdio.h>

#include "endpoints/daemon/impl.h"
#include "endpoints/sys/machine.h"
#include "overlay/base/err.h"

_Static_assert((int)JOB_WORD_BYTES_MAX >= (int)TOPO_WHY_MAX,
               "a word has room for the reason");

int ep_daemon_look(struct daemon *d, char *why)
{
    struct topo_machine machine;
    int rc = 0;

    if (d->machine.cores > 0)
        return 0;
    snprintf(why, TOPO_WHY_MAX, "%s", ov_strerror(OV_ENOMEM));
    rc = ep_machine_load(&machine, why);
    if (rc == 0)
        d->machine = machine;
    return rc;
}

void ep_daemon_tell_machine(struct daemon *d, uint32_t index)
{
    struct job_word state = {.kind = JOB_WORD_MACHINE};

    if (ep_daemon_look(d, state.text) == 0) {
        state.packages = d->machine.packages;
        state.cores = d->machine.cores;
        state.text[0] = '\0';
    }
    ep_processes_say(d->nodes[index].local, &state);
}
