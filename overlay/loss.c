/* Handles the end of a link. */
#include "overlay/loss.h"

#include "overlay/dial.h"
#include "overlay/down.h"
#include "overlay/place.h"
#include "overlay/settle.h"
#include "overlay/witness.h"

static void on_parent_down(struct ov_node *node, bool was_up, uint32_t peer,
                           struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    tree->parent = OV_NO_LINK;
    tree->is_hello_due = false;
    if (node->has_left || ov_down_is_done(node))
        return; /* this node is leaving; ov_node_step() reports that */
    if (!was_up) {
        ov_dial_failed(node);
        return;
    }
    tree->is_attached = false;
    tree->has_let_go = false;
    ov_out_act(out, OV_ACT_ORPHAN)->node = peer;
    ov_settle_refuse_all(node); /* no answer can come by that link */
    ov_dial_begin(node);
}

/* Removes the members of a child from this node's tables, when the child and
 * all nodes beneath it have consumed the goodbye. */
static void forget_members(struct ov_node *node, struct ov_place *place)
{
    struct ov_members *members = &node->tree.members;
    uint16_t index = ov_place_index(node, place);

    for (uint32_t i = 0; place->members > 0; i++) {
        struct ov_member *member = &members->table[i];

        OV_ASSERT(i <= members->mask);
        if (member->node == TOPO_NONE || member->place != index)
            continue;
        member->place = OV_NO_PLACE;
        member->state = OV_MEMBER_ABSENT;
        place->members--;
    }
}

/* Handles the loss of the link to a child. When the link broke, rather than
 * being ended for its silence, the driver dials the child at once: a refusal
 * shows that its process is gone. */
static void on_child_down(struct ov_node *node, struct ov_place *place,
                          enum ov_place_kind hold, struct ov_out *out)
{
    if (ov_down_child_is_done(node, place)) {
        forget_members(node, place);
    } else if (hold == OV_PLACE_HOLD_UNCLEAR && place->members > 0) {
        ov_out_act(out, OV_ACT_PROBE)->node = place->child;
    }
    ov_place_to_hold(node, place, hold);
}

void ov_loss_on_down(struct ov_node *node, uint16_t index,
                     enum ov_place_kind hold, struct ov_out *out)
{
    struct ov_link *link = &node->links[index];
    bool was_up = link->state == OV_LINK_UP;

    ov_link_move(link, OV_LINK_FREE);
    link->is_ending = false;
    ov_witness_drop(node, index, out);
    if (index == node->tree.parent)
        on_parent_down(node, was_up, link->peer, out);
    else if (link->place != OV_NO_PLACE)
        on_child_down(node, &node->tree.places[link->place], hold, out);
}

void ov_loss_close(struct ov_node *node, uint16_t index,
                   enum ov_place_kind hold, struct ov_out *out)
{
    ov_out_act(out, OV_ACT_CLOSE)->link = index;
    ov_loss_on_down(node, index, hold, out);
}

/* Ends the links to the children. Nodes beneath an orphan receive nothing, but
 * another ancestor may be able to serve them at once. Nodes whose claims wait
 * for an answer through this node look elsewhere as well. */
static void let_go(struct ov_node *node)
{
    node->tree.has_let_go = true;
    ov_settle_refuse_all(node);
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        if (place->kind == OV_PLACE_LINK)
            ov_place_end_link(node, place);
    }
}

/* When this node ends the links to its children, if it has no parent by then. A
 * node that starts waits for as long as it dials its planned parent alone. */
static uint64_t letgo_ns(const struct ov_node *node)
{
    return node->tree.orphan_ns +
           (node->tree.has_joined ? node->cfg->times.letgo_ns
                                  : ov_times_patience_ns(&node->cfg->times));
}

void ov_loss_on_time(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    if (ov_dial_on_time(node, out) && tree->parent != OV_NO_LINK)
        ov_loss_close(node, tree->parent, OV_PLACE_HOLD_UNCLEAR, out);
    ov_out_wake(out, tree->redial_ns);
    if (tree->is_attached || tree->has_let_go)
        return;
    if (node->now_ns >= letgo_ns(node))
        let_go(node);
    else
        ov_out_wake(out, letgo_ns(node));
}
