/* Dialling, again and again. */
#include "overlay/dial.h"

/* xorshift (Marsaglia 2003): jitter need not be good, only different. */
static uint32_t next_random(struct ov_node *node)
{
    node->random ^= node->random << 13;
    node->random ^= node->random >> 17;
    node->random ^= node->random << 5;
    return node->random;
}

void ov_dial_parent(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    struct ov_act *act = ov_out_act(out, OV_ACT_DIAL);

    act->node = topo_tree_parent(&tree->plan, tree->self);
    act->attach = ++tree->attach;
    tree->is_dialling = true;
    tree->redial_ns = OV_NEVER;
}

static void lose_parent(struct ov_node *node, struct ov_out *out)
{
    ov_out_act(out, OV_ACT_LOST)->node =
        topo_tree_parent(&node->tree.plan, node->tree.self);
}

void ov_dial_failed(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    uint64_t attempt_ns = node->cfg->timers.attempt_ns;
    uint64_t waited_ns = node->now_ns - tree->orphan_ns;
    uint64_t pause_ns = waited_ns / 4 + attempt_ns / 64;

    if (!tree->is_dialling)
        return;
    tree->is_dialling = false;
    if (waited_ns >= node->cfg->timers.giveup_ns) {
        lose_parent(node, out);
        return;
    }
    if (pause_ns > attempt_ns)
        pause_ns = attempt_ns;
    tree->redial_ns =
        node->now_ns + pause_ns / 2 + next_random(node) % (pause_ns / 2 + 1);
}

void ov_dial_on_time(struct ov_node *node, struct ov_out *out)
{
    if (node->now_ns >= node->tree.redial_ns)
        ov_dial_parent(node, out);
    ov_out_wake(out, node->tree.redial_ns);
}
