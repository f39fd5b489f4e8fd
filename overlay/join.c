/* Handles what a node and its new parent send each other when it joins. */
#include "overlay/join.h"

#include "overlay/base/err.h"
#include "overlay/dial.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/settle.h"
#include "overlay/up.h"

/* Fills the list of ancestors from the plan, until a parent sends its own
 * list. */
static void list_planned(struct ov_tree *tree)
{
    uint32_t at = tree->self;

    tree->ancestors_count = 0;
    while (at != 0 && tree->ancestors_count < tree->ancestors_max) {
        at = topo_tree_parent(tree->plan, at);
        tree->ancestors[tree->ancestors_count++] = at;
    }
    if (tree->ancestors_count > 0)
        tree->ancestors[tree->ancestors_count - 1] = 0;
}

void ov_join_start(struct ov_node *node, struct ov_buf *address,
                   struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    OV_ASSERT(address == NULL || address->len_bytes <= OV_ADDRESS_MAX);
    node->address = address;
    list_planned(tree);
    if (ov_node_is_root(node)) {
        tree->is_attached = true;
        tree->has_joined = true;
        node->root->absent_ns =
            node->now_ns + ov_times_absent_ns(&node->cfg->times);
        ov_join_tell(node, out);
    } else {
        ov_dial_begin(node);
    }
}

void ov_join_on_link_up(struct ov_node *node, const struct ov_event *ev)
{
    struct ov_tree *tree = &node->tree;
    struct ov_link *link = &node->links[ev->link];

    OV_ASSERT(ev->link < node->links_max);
    ov_link_open(link, ev->node, OV_NO_PLACE, node->now_ns);
    if (!ev->dialled)
        return;
    OV_ASSERT(tree->is_dialling && tree->parent == OV_NO_LINK);
    ov_dial_linked(node);
    tree->parent = ev->link;
    tree->is_hello_due = true;
    tree->hello_at = 0;
    ov_link_move(link, OV_LINK_JOINING);
    link->attach = tree->attach;
    ov_node_serve(node, ev->link);
}

void ov_join_tell(struct ov_node *node, struct ov_out *out)
{
    if (!ov_node_is_root(node) || node->root->is_joined_told ||
        node->tree.joined + 1 < node->tree.plan->nodes)
        return;
    node->root->is_joined_told = true;
    ov_out_act(out, OV_ACT_JOINED);
}

int ov_join_on_asked(struct ov_node *node, struct ov_item *item)
{
    uint64_t attach;

    if (ov_asked_decode(item, &attach) || attach != node->tree.attach ||
        node->tree.is_attached)
        return OV_EPROTO;
    ov_dial_asked(node);
    return 0;
}

/* Removes the members that the welcome strips: the root counts them beneath
 * another node. */
static int drop_stripped(struct ov_node *node, struct ov_rd rd)
{
    while (ov_rd_left(&rd) > 0) {
        struct ov_member *member =
            ov_members_find(&node->tree.members, ov_rd_u32(&rd));

        if (member == NULL)
            return OV_EPROTO;
        ov_settle_remove(node, member, OV_MEMBER_ABSENT);
    }
    return 0;
}

/* Tells the new parent where our children listen, as the former parent knew. */
static void tell_addresses(struct ov_node *node)
{
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        if (place->kind == OV_PLACE_LINK &&
            node->links[place->link].state == OV_LINK_UP)
            ov_place_tell_address(node, place);
    }
}

int ov_join_on_welcome(struct ov_node *node, struct ov_item *item,
                       struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    struct ov_link *link = &node->links[tree->parent];
    uint64_t attach;

    if (ov_welcome_decode(item, &attach) || attach != tree->attach ||
        tree->is_attached || drop_stripped(node, item->body))
        return OV_EPROTO;
    if (item->flags & OV_ITEM_MORE)
        return 0;
    ov_link_move(link, OV_LINK_UP);
    ov_dial_done(node);
    tree->is_attached = true;
    tree->has_joined = true;
    tree->has_let_go = false;
    ov_up_restart(node);
    tell_addresses(node);
    ov_out_act(out, OV_ACT_ADOPTED)->node = link->peer;
    return 0;
}

/* Passes the path to the root on to the children, which then also send the
 * records again that the root has not accepted. */
static void pass_path_on(struct ov_node *node)
{
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        if (place->kind != OV_PLACE_LINK ||
            node->links[place->link].state != OV_LINK_UP)
            continue;
        place->is_path_due = true;
        ov_node_serve(node, place->link);
    }
}

/* Takes over the ancestors from PATH. They must be ancestors of this node in
 * the plan, each an ancestor of the one before it, up to the root. */
static int take_path(struct ov_tree *tree, struct ov_rd rd)
{
    uint32_t before = tree->self;

    tree->ancestors_count = 0;
    while (ov_rd_left(&rd) > 0) {
        uint32_t ancestor = ov_rd_u32(&rd);

        if (ancestor >= before ||
            !topo_tree_contains(tree->plan, ancestor, tree->self))
            return OV_EPROTO;
        tree->ancestors[tree->ancestors_count++] = ancestor;
        before = ancestor;
    }
    return before == 0 ? 0 : OV_EPROTO;
}

int ov_join_on_path(struct ov_node *node, struct ov_item *item)
{
    struct ov_tree *tree = &node->tree;
    uint16_t numbers;

    if (ov_numbers_decode(item, &numbers) || !tree->is_attached ||
        numbers == 0 || numbers > tree->ancestors_max)
        return OV_EPROTO;
    if (take_path(tree, item->body)) {
        list_planned(tree);
        return OV_EPROTO;
    }
    ov_up_resend(node);
    pass_path_on(node);
    return 0;
}

int ov_join_on_refuse(struct ov_node *node, struct ov_item *item,
                      struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    uint32_t reason;
    uint64_t attach;

    if (ov_refuse_decode(item, &attach, &reason) || attach != tree->attach ||
        (tree->is_attached && reason != OV_REFUSE_LOST))
        return OV_EPROTO;
    if (reason == OV_REFUSE_LOST && !node->has_left) {
        node->has_left = true;
        ov_out_act(out, OV_ACT_END)->flags = OV_END_DECLARED;
        return 0;
    }
    /* A parent that is itself without a parent may get one soon, so a node that
     * starts continues to dial it. */
    tree->is_turned_down |= reason != OV_REFUSE_UNATTACHED;
    ov_loss_close(node, tree->parent, OV_PLACE_HOLD_UNCLEAR, out);
    return 0;
}
