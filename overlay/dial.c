/* Dials possible parents until one accepts this node. */
#include "overlay/dial.h"

/* The next number of an xorshift generator (Marsaglia 2003). Its numbers need
 * not be good, but different in each node. */
static uint32_t next_random(struct ov_node *node)
{
    node->random ^= node->random << 13;
    node->random ^= node->random >> 17;
    node->random ^= node->random << 5;
    return node->random;
}

static uint64_t jitter_ns(struct ov_node *node, uint64_t pause_ns)
{
    return pause_ns / 2 + next_random(node) % (pause_ns / 2 + 1);
}

void ov_dial_begin(struct ov_node *node)
{
    struct ov_tree *tree = &node->tree;
    uint64_t least_ns = ov_times_retry_min_ns(&node->cfg->times);

    tree->orphan_ns = node->now_ns;
    tree->is_dialling = false;
    tree->attempt_ns = OV_NEVER;
    /* An orphan dials its grandparent first, because its parent has just been
     * lost. Each orphan of that parent waits for a random time, so that they do
     * not all dial at once. */
    tree->dial_at = tree->has_joined && tree->ancestors_count > 1 ? 1 : 0;
    tree->redial_ns = node->now_ns;
    if (tree->has_joined)
        tree->redial_ns += next_random(node) % (least_ns + 1);
}

/* True while a node that starts dials its planned parent alone, which may be
 * starting, too. Dialling higher ancestors at once would spoil the shape of the
 * tree. */
static bool is_patient(const struct ov_node *node)
{
    return !node->tree.has_joined && !node->tree.is_turned_down &&
           node->now_ns <
               node->tree.orphan_ns + ov_times_patience_ns(&node->cfg->times);
}

static void dial(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    struct ov_act *act = ov_out_act(out, OV_ACT_DIAL);

    OV_ASSERT(tree->dial_at < tree->ancestors_count);
    act->node = tree->ancestors[tree->dial_at];
    act->attach = ++tree->attach; /* the root sees by it which claim is newer */
    tree->is_dialling = true;
    tree->redial_ns = OV_NEVER;
}

void ov_dial_linked(struct ov_node *node)
{
    node->tree.is_dialling = false;
    node->tree.attempt_ns = node->now_ns + node->cfg->times.attempt_ns;
}

void ov_dial_asked(struct ov_node *node)
{
    node->tree.attempt_ns = OV_NEVER;
}

void ov_dial_done(struct ov_node *node)
{
    node->tree.attempt_ns = OV_NEVER;
    node->tree.redial_ns = OV_NEVER;
}

/* Plans the next dial. A round over all ancestors ends with the former parent,
 * which is first in the list. */
void ov_dial_failed(struct ov_node *node)
{
    struct ov_tree *tree = &node->tree;
    uint64_t pause_ns = ov_times_retry_ns(&node->cfg->times, tree->dial_at == 0,
                                          node->now_ns - tree->orphan_ns);

    tree->is_dialling = false;
    tree->attempt_ns = OV_NEVER;
    if (!is_patient(node))
        tree->dial_at = (uint16_t)((tree->dial_at + 1) % tree->ancestors_count);
    tree->redial_ns = node->now_ns + jitter_ns(node, pause_ns);
}

/* The time without a parent after which this node ends: longer when it is
 * starting, because its ancestors may be starting, too. */
static uint64_t giveup_ns(const struct ov_node *node)
{
    const struct ov_times *t = &node->cfg->times;

    return node->tree.has_joined ? t->giveup_ns : t->launch_ns;
}

bool ov_dial_on_time(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    bool is_slow = node->now_ns >= tree->attempt_ns;

    if (node->now_ns >= tree->redial_ns && !node->has_left) {
        if (node->now_ns >= tree->orphan_ns + giveup_ns(node)) {
            /* No parent was found, so the root is out of reach, and may have
             * declared us lost by now. */
            tree->redial_ns = OV_NEVER;
            node->has_left = true;
            ov_out_act(out, OV_ACT_END)->flags = OV_END_ALONE;
        } else {
            dial(node, out);
        }
    }
    ov_out_wake(out, tree->redial_ns);
    if (!is_slow)
        ov_out_wake(out, tree->attempt_ns);
    return is_slow;
}
