/* Writing the tree with jansson. */
#include "commands/tree_json.h"

#include <jansson.h>

#include "commands/tree_fold.h"
#include "config.h"

static void add(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *node_json(const struct ep_layout *layout, uint32_t node)
{
    const struct topo_fabric *fabric = &ep_layout_plan(layout)->fabric;
    const struct topo_tree *tree = ep_layout_tree(layout);
    uint32_t s = ep_layout_switch(layout, node);
    json_t *object = json_object();

    add(object, "node", node);
    json_object_set_new(object, "host",
                        json_string(ep_layout_host(layout, node)));
    json_object_set_new(object, "switch",
                        s < fabric->switches.count
                            ? json_string(topo_hosts_name(&fabric->switches, s))
                            : json_null());
    if (node == 0)
        return object;
    add(object, "parent", topo_tree_parent(tree, node));
    add(object, "level", topo_tree_depth(tree, node));
    add(object, "place", ep_layout_place(layout, node));
    add(object, "procs", ep_layout_procs(layout, node));
    json_object_set_new(object, "crosses",
                        json_boolean(tree_crosses(layout, node)));
    return object;
}

static const char *source_name(enum ep_tree_by by)
{
    static const char *const names[] = {
        [EP_TREE_LIST] = "list",   [EP_TREE_FILE] = "topology",
        [EP_TREE_SLURM] = "slurm", [EP_TREE_ORDER] = "order",
        [EP_TREE_NAMES] = "names", [EP_TREE_ADDRESSES] = "addresses",
    };

    return names[by];
}

int tree_json(const struct ep_layout *layout, FILE *out)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    const struct ep_tree_plan *plan = ep_layout_plan(layout);
    struct topo_times times = topo_cost_times(&plan->cost, tree, plan->procs);
    json_t *object = json_object(), *nodes = json_array();
    int rc;

    json_object_set_new(object, "version", json_string(PACKAGE_VERSION));
    add(object, "hosts", tree->nodes - 1);
    add(object, "arity", plan->arity);
    json_object_set_new(object, "is_chosen", json_boolean(plan->is_chosen));
    json_object_set_new(object, "by", json_string(source_name(plan->by)));
    add(object, "levels", topo_tree_height(tree));
    add(object, "crossings", plan->shape.crossings);
    json_object_set_new(object, "broadcast_s",
                        json_real(times.broadcast_ns / 1e9));
    json_object_set_new(object, "gather_s", json_real(times.gather_ns / 1e9));
    for (uint32_t node = 0; node < tree->nodes; node++)
        json_array_append_new(nodes, node_json(layout, node));
    json_object_set_new(object, "nodes", nodes);
    rc = json_dumpf(object, out, JSON_COMPACT);
    json_decref(object);
    return rc != 0 || fputc('\n', out) == EOF || fflush(out) != 0 ? -1 : 0;
}
