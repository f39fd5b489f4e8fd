/* First joins. */
#include "overlay/join.h"

#include "overlay/base/err.h"
#include "overlay/dial.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/up.h"

void ov_join_start(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    tree->orphan_ns = node->now_ns;
    if (ov_node_is_root(node)) {
        tree->is_attached = true;
        ov_join_tell(node, out);
    } else {
        ov_dial_parent(node, out);
    }
}

void ov_join_on_link_up(struct ov_node *node, const struct ov_event *ev)
{
    struct ov_tree *tree = &node->tree;
    struct ov_link *link = &node->links[ev->link];

    ov_link_open(link, ev->node, OV_NO_PLACE, node->now_ns);
    if (!ev->dialled)
        return;
    OV_ASSERT(tree->is_dialling && tree->parent == OV_NO_LINK);
    tree->is_dialling = false;
    tree->parent = ev->link;
    tree->is_hello_due = true;
    ov_link_move(link, OV_LINK_JOINING);
    link->attach = tree->attach;
    ov_node_serve(node, ev->link);
}

/* --- the parent's side */

/* Is this a child that was asked for and not welcomed yet? */
static bool is_asked(const struct ov_node *node, uint32_t child)
{
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];

        if (place->child == child &&
            (place->kind == OV_PLACE_HOLD_ASKED ||
             (place->kind == OV_PLACE_LINK &&
              node->links[place->link].state == OV_LINK_JOINING)))
            return true;
    }
    return false;
}

/* One that begins anew has to hear every frame from the first. */
static bool keeps_all(const struct ov_node *node, uint32_t child)
{
    if (is_asked(node, child))
        return true;
    for (unsigned i = 1; i < node->cfg->streams_max; i++) {
        if (node->streams[i].state == OV_STREAM_OPEN)
            return false;
    }
    return node->streams[0].first == 0;
}

/* Why this hello cannot be granted, or OV_GRANTED. */
static enum ov_refuse_reason judge(const struct ov_node *node,
                                   const struct ov_claim *claim)
{
    const struct ov_tree *tree = &node->tree;
    const struct ov_member *member =
        ov_members_find(&tree->members, claim->node);

    if (claim->node <= tree->self)
        return OV_REFUSE_NUMBER;
    if (member != NULL && member->attach >= claim->attach)
        return OV_REFUSE_STALE;
    if (claim->members > 0 || claim->cursors > 0 ||
        claim->node >= tree->plan.nodes ||
        topo_tree_parent(&tree->plan, claim->node) != tree->self ||
        !keeps_all(node, claim->node))
        return OV_REFUSE_SERVE;
    return OV_GRANTED;
}

static void refuse(struct ov_node *node, uint16_t link,
                   enum ov_refuse_reason reason)
{
    node->links[link].refuse = (uint8_t)reason;
    ov_node_serve(node, link);
}

/* Takes a member out of the counts that it is in. */
static void uncount(struct ov_node *node, const struct ov_member *member)
{
    struct ov_tree *tree = &node->tree;

    if (member->state == OV_MEMBER_TENTATIVE)
        tree->places[member->place].tentative--;
    else if (member->state == OV_MEMBER_CONFIRMED && ov_node_is_root(node))
        tree->joined--;
    if (member->state == OV_MEMBER_CONFIRMED && member->place != OV_NO_PLACE)
        tree->places[member->place].members--;
}

static void confirm(struct ov_node *node, struct ov_member *member)
{
    struct ov_place *place = ov_place_of(node, member);

    if (member->state != OV_MEMBER_TENTATIVE)
        return;
    uncount(node, member);
    member->state = OV_MEMBER_CONFIRMED;
    node->tree.places[member->place].members++;
    if (ov_node_is_root(node))
        node->tree.joined++;
    if (place == NULL)
        return; /* its link is gone */
    if (member->node == place->child) {
        place->is_welcome_due = true;
        ov_link_move(&node->links[place->link], OV_LINK_UP);
        ov_place_grant(node, place);
    } else {
        member->reason = OV_GRANTED;
        ov_members_due(&node->tree.members, &place->due, member, OV_DUE_ANSWER);
    }
    ov_node_serve(node, place->link);
}

/* Takes a member in tentatively; the root decides, others ask on. */
static int take_in(struct ov_node *node, uint16_t place_index, uint32_t who,
                   uint64_t attach, uint32_t parent)
{
    struct ov_tree *tree = &node->tree;
    struct ov_member *member = ov_members_add(&tree->members, who);

    if (member == NULL)
        return OV_EPROTO;
    uncount(node, member);
    member->attach = attach;
    member->parent = parent;
    member->place = place_index;
    member->state = OV_MEMBER_TENTATIVE;
    tree->places[place_index].tentative++;
    if (ov_node_is_root(node)) {
        confirm(node, member);
        return 0;
    }
    ov_members_due(&tree->members, &tree->asks, member, OV_DUE_ASK);
    if (tree->is_attached)
        ov_node_serve_parent(node);
    return 0;
}

int ov_join_on_hello(struct ov_node *node, uint16_t index, struct ov_item *item,
                     struct ov_out *out)
{
    struct ov_link *link = &node->links[index];
    enum ov_refuse_reason reason;
    struct ov_claim claim;
    uint16_t old, place;

    if (ov_claim_decode(item, &claim) || claim.node != link->peer ||
        link->state != OV_LINK_OPEN || index == node->tree.parent)
        return OV_EPROTO;
    link->attach = claim.attach;
    ov_link_move(link, OV_LINK_JOINING);
    reason = judge(node, &claim);
    if (reason != OV_GRANTED) {
        refuse(node, index, reason);
        return 0;
    }
    old = ov_place_find(node, claim.node);
    if (old != OV_NO_PLACE)
        ov_loss_close(node, node->tree.places[old].link, OV_PLACE_HOLD_UNCLEAR,
                      out);
    place = ov_place_take(node, claim.node, index);
    if (place == OV_NO_PLACE) {
        refuse(node, index, OV_REFUSE_FULL);
        return 0;
    }
    link->place = place;
    node->tree.places[place].attach = claim.attach;
    return take_in(node, place, claim.node, claim.attach, node->tree.self);
}

int ov_join_on_ask(struct ov_node *node, uint16_t index, struct ov_item *item)
{
    const struct ov_link *link = &node->links[index];
    const struct topo_tree *plan = &node->tree.plan;
    struct ov_member_ref ref;
    struct ov_claim claim;

    if (ov_claim_decode(item, &claim) || link->state != OV_LINK_UP ||
        link->place == OV_NO_PLACE || claim.members != 1 || claim.cursors != 0)
        return OV_EPROTO;
    ref = ov_member_decode(item);
    if (ref.node != claim.node || ref.node >= plan->nodes ||
        ref.node == link->peer ||
        ref.parent != topo_tree_parent(plan, ref.node) ||
        topo_tree_towards(plan, node->tree.self, ref.node) != link->peer)
        return OV_EPROTO;
    return take_in(node, link->place, ref.node, ref.attach, ref.parent);
}

int ov_join_on_answer(struct ov_node *node, struct ov_item *item)
{
    struct ov_member *member;
    struct ov_answer answer;

    if (ov_answer_decode(item, &answer) || answer.reason != OV_GRANTED)
        return OV_EPROTO;
    member = ov_members_find(&node->tree.members, answer.node);
    if (member != NULL && member->attach == answer.attach)
        confirm(node, member);
    return 0;
}

void ov_join_tell(struct ov_node *node, struct ov_out *out)
{
    if (!ov_node_is_root(node) || node->root->is_joined_told ||
        node->tree.joined + 1 < node->tree.plan.nodes)
        return;
    node->root->is_joined_told = true;
    ov_out_act(out, OV_ACT_JOINED);
}

/* --- the child's side */

int ov_join_on_welcome(struct ov_node *node, struct ov_item *item)
{
    struct ov_tree *tree = &node->tree;
    uint64_t attach;

    if (ov_welcome_decode(item, &attach) || attach != tree->attach ||
        tree->is_attached)
        return OV_EPROTO;
    ov_link_move(&node->links[tree->parent], OV_LINK_UP);
    tree->is_attached = true;
    tree->ancestors_count = 0;
    ov_up_restart(node);
    ov_node_serve_parent(node);
    return 0;
}

int ov_join_on_path(struct ov_node *node, struct ov_item *item)
{
    struct ov_tree *tree = &node->tree;
    uint16_t numbers;

    if (ov_numbers_decode(item, &numbers) || !tree->is_attached ||
        tree->ancestors_count + numbers > tree->ancestors_max)
        return OV_EPROTO;
    for (; numbers > 0; numbers--) {
        uint32_t ancestor = ov_rd_u32(&item->body);

        if (ancestor >= tree->self)
            return OV_EPROTO;
        tree->ancestors[tree->ancestors_count++] = ancestor;
    }
    return 0;
}

int ov_join_on_refuse(struct ov_node *node, struct ov_item *item,
                      struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    uint32_t reason;
    uint64_t attach;

    if (ov_refuse_decode(item, &attach, &reason) || attach != tree->attach ||
        tree->is_attached)
        return OV_EPROTO;
    ov_loss_close(node, tree->parent, OV_PLACE_HOLD_UNCLEAR, out);
    return 0;
}
