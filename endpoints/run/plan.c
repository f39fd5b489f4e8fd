/* The plan of a run: what is known before anything starts. */
#include "endpoints/run/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/tree.h"

int ep_run_plan_nodes(struct run_plan *plan, uint32_t *most)
{
    int rc;

    plan->nodes_wanted = plan->options->nodes;
    if (gethostname(plan->host, sizeof(plan->host) - 1))
        strcpy(plan->host, "localhost");
    rc = ep_run_plan_hosts(plan);
    if (rc == 0)
        rc = ep_run_plan_ranks(plan, most);
    return rc == 0 ? ep_run_plan_tree(plan) : rc;
}

void ep_run_plan_close(struct run_plan *plan)
{
    ep_boot_config_fini(&plan->config);
    topo_hosts_fini(&plan->hosts);
    ep_tree_plan_fini(&plan->tree);
    ep_run_survey_close(&plan->survey);
}
