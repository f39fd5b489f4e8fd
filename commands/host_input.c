/* Reads a list of hosts from stdin, before anything else is done. */
#include "commands/host_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/refuse.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/hosts.h"

bool host_input_read(struct ep_run_options *options)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_hosts hosts;
    int rc;

    if (options->hostfile == NULL || strcmp(options->hostfile, "-") != 0)
        return false;
    ep_prelude_wait("--hostfile: waiting for the list of hosts on stdin");
    rc = topo_hosts_read_from(&hosts, stdin, "stdin", why);
    ep_prelude_go_on();
    options->hosts = rc == 0 ? topo_hosts_fold(&hosts, hosts.count) : NULL;
    options->hostfile = NULL;
    topo_hosts_fini(&hosts);
    if (options->hosts != NULL)
        return true;
    refuse("%s", why);
    exit(rc == OV_EINVAL ? 2 : 1);
}
