/* The hosts that a launch waits for. */
#include "endpoints/run/awaited.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/hub/hub.h"
#include "endpoints/run/launch.h"
#include "endpoints/run/plan.h"

/* When the first message comes, and the longest time between two messages. */
enum { FIRST_S = 2, PAUSE_S = 60, SHOWN_BYTES = 400 };

static bool has_joined(const struct ep_hub *hub, uint32_t node)
{
    return node == 0 || (hub != NULL && ep_hub_has_joined(hub, node));
}

static uint32_t parent_of(const struct run_plan *plan, uint32_t node)
{
    return topo_tree_parent(&plan->config.tree, node);
}

static bool is_local(const struct run_plan *plan)
{
    return ep_launcher_ops(plan->config.launcher)->is_here;
}

char *ep_run_awaited_list(const struct run_plan *plan, const struct ep_hub *hub,
                          size_t max_bytes, uint32_t *count)
{
    bool *is_named =
        is_local(plan) ? NULL : calloc(plan->hosts.count, sizeof(*is_named));
    struct topo_hosts hosts;
    char *list = NULL;

    *count = 0;
    topo_hosts_init(&hosts);
    for (uint32_t n = 1; is_named != NULL && n <= plan->nodes_count; n++) {
        if (has_joined(hub, n))
            continue;
        ++*count;
        is_named[ep_run_place(plan, n)] = has_joined(hub, parent_of(plan, n));
    }
    for (uint32_t i = 0; is_named != NULL && i < plan->hosts.count; i++) {
        const char *name = topo_hosts_name(&plan->hosts, i);

        if (is_named[i])
            (void)topo_hosts_add(&hosts, name, strlen(name), 0);
    }
    if (hosts.count > 0)
        list = topo_hosts_fold_short(&hosts, max_bytes);
    topo_hosts_fini(&hosts);
    free(is_named);
    return list;
}

unsigned ep_run_awaited_wait(const struct run_plan *plan,
                             const struct ep_hub *hub, unsigned waited_s)
{
    uint32_t count;
    char *list;

    if (waited_s < FIRST_S)
        return FIRST_S;
    list = ep_run_awaited_list(plan, hub, SHOWN_BYTES, &count);
    if (list != NULL)
        ep_voice_remark(plan->voice,
                        "after %u s the launch still waits for %s: %u of %u "
                        "node%s not joined",
                        waited_s, list, count, plan->nodes_count,
                        plan->nodes_count == 1 ? " has" : "s have");
    free(list);
    return waited_s + (2 * waited_s < PAUSE_S ? 2 * waited_s : PAUSE_S);
}

void ep_run_awaited_ended(const struct run_plan *plan, const struct ep_hub *hub)
{
    uint32_t count;
    char *list = ep_run_awaited_list(plan, hub, SHOWN_BYTES, &count);

    if (list != NULL)
        ep_voice_say(plan->voice,
                     "the launch still waited for %s: %u of %u node%s had not "
                     "joined",
                     list, count, plan->nodes_count,
                     plan->nodes_count == 1 ? "" : "s");
    free(list);
}

void ep_run_awaited_failed(const struct run_plan *plan,
                           const struct ep_hub *hub,
                           const struct run_launch *launch)
{
    uint32_t untried = 0;

    if (plan->relaunch->is_due)
        return;
    for (uint32_t n = 1; n <= plan->nodes_count; n++)
        untried += !has_joined(hub, n) &&
                   !has_joined(hub, parent_of(plan, n)) &&
                   !ep_run_launch_has_tried(launch, n);
    if (untried > 0)
        ep_voice_say(plan->voice,
                     "%u of %u hosts were tried; the other %u were not, as the "
                     "daemons that start their daemons had not connected",
                     plan->nodes_count - untried, plan->nodes_count, untried);
}
