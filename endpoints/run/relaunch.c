/* What one launch passes on to the next. */
#include "endpoints/run/relaunch.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

void ep_run_relaunch_fini(struct run_relaunch *again)
{
    topo_hosts_fini(&again->left_out);
    topo_hosts_fini(&again->known);
    free(again->machines);
    *again = (struct run_relaunch){0};
}

static uint32_t find_host(const struct topo_hosts *hosts, const char *host)
{
    return topo_hosts_find(hosts, host, strlen(host));
}

int ep_run_relaunch_without(struct run_relaunch *again, const char *host)
{
    return topo_hosts_add(&again->left_out, host, strlen(host), 0) == 0
               ? 0
               : OV_ENOMEM;
}

int ep_run_relaunch_know(struct run_relaunch *again, const char *host,
                         struct ep_machine machine)
{
    uint32_t at = find_host(&again->known, host);
    struct ep_machine *grown;

    if (at == TOPO_NONE) {
        if (topo_hosts_add(&again->known, host, strlen(host), 0) != 0)
            return OV_ENOMEM;
        at = again->known.count - 1;
        grown = reallocarray(again->machines, again->known.items_max,
                             sizeof(*grown));
        if (grown == NULL) {
            topo_hosts_fini(&again->known);
            return OV_ENOMEM;
        }
        again->machines = grown;
    }
    again->machines[at] = machine;
    return 0;
}

struct ep_machine ep_run_relaunch_machine(const struct run_relaunch *again,
                                          const char *host)
{
    uint32_t at = find_host(&again->known, host);

    return at == TOPO_NONE ? (struct ep_machine){0} : again->machines[at];
}

bool ep_run_relaunch_stop(struct run_relaunch *again, int code, int *exit_code)
{
    if (!again->is_due)
        return false;
    again->is_due = false;
    *exit_code = code;
    return true;
}
