/* Handles hellos, asks and answers as the parent of the node that sends or gets
 * them. */
#include "overlay/adopt.h"

#include "overlay/asks.h"
#include "overlay/base/err.h"
#include "overlay/down.h"
#include "overlay/place.h"
#include "overlay/settle.h"

/* --- claims */

/* True when ref->node is in the planned subtree of `top`, and ref->parent is an
 * ancestor of it in the plan. As only such members are accepted, no circle of
 * parents can form, and no node answers for more nodes than its tables have
 * room for. */
static bool is_beneath(const struct ov_node *node, uint32_t top,
                       const struct ov_member_ref *ref)
{
    const struct topo_tree *plan = node->tree.plan;

    return ref->node > top && ref->node < plan->nodes &&
           ref->parent < ref->node &&
           topo_tree_contains(plan, top, ref->node) &&
           topo_tree_contains(plan, ref->parent, ref->node);
}

/* Adds the members in this part of the claim to the ask. OV_EPROTO when a
 * member is not beneath the claiming node. */
static int take_members(struct ov_node *node, struct ov_ask *ask,
                        const struct ov_claim *claim, struct ov_item *item,
                        bool *has_room)
{
    *has_room = true;
    for (unsigned i = 0; i < claim->members; i++) {
        struct ov_member_ref ref = ov_member_decode(item);

        if (!is_beneath(node, claim->node, &ref) || ref.parent < claim->node)
            return OV_EPROTO;
        *has_room = *has_room && ov_asks_claim(node, ask, &ref);
    }
    return 0;
}

/* Takes over the cursors of the claim: the claiming node's position in each
 * stream. */
static int take_cursors(struct ov_node *node, struct ov_place *place,
                        const struct ov_claim *claim, struct ov_rd rd,
                        bool is_hello)
{
    struct ov_item item = {.body = rd};

    for (unsigned i = 0; i < claim->cursors; i++) {
        struct ov_cursor cursor = ov_cursor_decode(&item);

        if (ov_down_on_cursor(node, place, &cursor, is_hello))
            return OV_EPROTO;
    }
    return 0;
}

/* Handles a complete claim: the root answers it, other nodes ask their parent,
 * even about members that they know. Two claims of a node may be under way on
 * two paths, and only a node on both paths can see which claim is newer. */
static void pass_on(struct ov_node *node, struct ov_ask *ask)
{
    struct ov_tree *tree = &node->tree;

    tree->has_changed = true;
    if (ov_node_is_root(node)) {
        ask->state = OV_ASK_ASKED;
        ov_settle_judge(node, ask);
    } else if (!ov_node_asks(node)) {
        ask->state = OV_ASK_ASKED;
        ov_settle_refuse(node, ask, OV_REFUSE_UNATTACHED);
    } else {
        ov_ask_due(tree->claims, ask);
        ov_node_serve_parent(node);
    }
}

/* Returns a reader of the claim's cursors, which follow its members. */
static struct ov_rd cursors_of(const struct ov_claim *claim,
                               const struct ov_item *item)
{
    struct ov_rd rd = item->body;

    ov_rd_bytes(&rd, (size_t)claim->members * OV_MEMBER_BYTES);
    return rd;
}

/* --- hello */

static bool is_lost(const struct ov_node *node, uint32_t who)
{
    const struct ov_member *member = ov_members_find(&node->tree.members, who);

    return member != NULL && member->state == OV_MEMBER_LOST;
}

/* Returns why this hello cannot be accepted, or OV_GRANTED. An orphan cannot
 * ask its parent about a claim; a node that starts can do so once it has
 * joined. The root is never full, because no node above it could take the
 * child. */
static enum ov_refuse_reason why_not(const struct ov_node *node,
                                     const struct ov_claim *claim,
                                     struct ov_rd cursors)
{
    const struct ov_tree *tree = &node->tree;
    uint16_t place = ov_place_find(node, claim->node);

    if (claim->node <= tree->self || claim->node >= tree->plan->nodes ||
        !topo_tree_contains(tree->plan, tree->self, claim->node))
        return OV_REFUSE_NUMBER;
    if (is_lost(node, claim->node))
        return OV_REFUSE_LOST;
    if (!ov_node_asks(node))
        return OV_REFUSE_UNATTACHED;
    if (place != OV_NO_PLACE && tree->places[place].attach >= claim->attach)
        return OV_REFUSE_STALE; /* the hello belongs to an older dial, and
                                   arrived late */
    if (!ov_node_is_root(node) && place == OV_NO_PLACE &&
        ov_place_children(node) >= node->cfg->children_max)
        return OV_REFUSE_FULL;
    if (!ov_down_serves(node, claim, cursors))
        return OV_REFUSE_SERVE;
    return OV_GRANTED;
}

static int refuse(struct ov_node *node, uint16_t link,
                  enum ov_refuse_reason reason)
{
    node->links[link].refuse = (uint8_t)reason;
    node->links[link].is_ending = true;
    ov_node_serve(node, link);
    return 0;
}

/* Takes a place for the child and ends its earlier link, if there is one: the
 * child would not have dialled again if that link still worked. */
static uint16_t place_for(struct ov_node *node, uint32_t child, uint16_t link)
{
    uint16_t old = ov_place_find(node, child);
    uint16_t index;

    if (old != OV_NO_PLACE)
        ov_place_end_link(node, &node->tree.places[old]);
    index = ov_place_take(node, child, link);
    if (index != OV_NO_PLACE) {
        node->links[link].place = index;
        node->tree.places[index].attach = node->links[link].attach;
        ov_down_place_opened(node, &node->tree.places[index]);
    }
    return index;
}

static int first_hello(struct ov_node *node, uint16_t index,
                       const struct ov_claim *claim, struct ov_item *item)
{
    struct ov_link *link = &node->links[index];
    struct ov_rd cursors = cursors_of(claim, item);
    struct ov_member_ref ref = {claim->node, node->tree.self, claim->attach};
    enum ov_refuse_reason reason;
    struct ov_place *place;
    struct ov_ask *ask;
    uint16_t at;

    link->attach = claim->attach;
    ov_link_move(link, OV_LINK_JOINING);
    reason = why_not(node, claim, cursors);
    if (reason != OV_GRANTED)
        return refuse(node, index, reason);
    at = place_for(node, claim->node, index);
    if (at == OV_NO_PLACE)
        return refuse(node, index, OV_REFUSE_FULL);
    place = &node->tree.places[at];
    if (take_cursors(node, place, claim, cursors, true))
        return OV_EPROTO;
    /* From here on our base includes that of the claim, long before the answer
     * arrives, so that no node above releases frames that the child still
     * needs. */
    ask = ov_asks_begin(node, at, &ref);
    if (ask == NULL) {
        link->refuse = OV_REFUSE_FULL;
        ov_place_end_link(node, place);
        return 0;
    }
    place->coming = ov_ask_index(node->tree.claims, ask);
    /* ASKED stops the child's time limit for the attempt. The answer may take
     * long because the root is far; dialling another parent would only begin
     * the same way again. */
    place->is_asked_due = !ov_node_is_root(node);
    return 0;
}

int ov_adopt_on_hello(struct ov_node *node, uint16_t index,
                      struct ov_item *item)
{
    struct ov_link *link = &node->links[index];
    struct ov_place *place;
    struct ov_claim claim;
    struct ov_ask *ask;
    bool has_room;

    if (ov_claim_decode(item, &claim) || claim.node != link->peer ||
        index == node->tree.parent)
        return OV_EPROTO;
    if (link->state == OV_LINK_OPEN) {
        int rc = first_hello(node, index, &claim, item);

        if (rc != 0 || link->is_ending)
            return rc;
    }
    place = link->place == OV_NO_PLACE ? NULL : &node->tree.places[link->place];
    if (place == NULL || place->coming == OV_NONE ||
        claim.attach != link->attach)
        return OV_EPROTO;
    ask = &node->tree.claims->asks[place->coming];
    if (take_members(node, ask, &claim, item, &has_room))
        return OV_EPROTO;
    if (!has_room) {
        link->refuse = OV_REFUSE_FULL;
        ov_place_end_link(node, place);
    } else if ((item->flags & OV_ITEM_MORE) == 0) {
        place->coming = OV_NONE;
        ov_node_serve(node, index);
        pass_on(node, ask);
    }
    return 0;
}

/* --- ask */

/* Refuses a claim by ANSWER; the parts of it that are still to come are
 * ignored. */
static void turn_down(struct ov_node *node, struct ov_place *place,
                      const struct ov_claim *claim,
                      enum ov_refuse_reason reason, bool has_more)
{
    place->coming = has_more ? OV_DISCARD : OV_NONE;
    ov_place_say(node, place,
                 &(struct ov_word){.kind = OV_ITEM_ANSWER,
                                   .node = claim->node,
                                   .attach = claim->attach,
                                   .reason = reason},
                 NULL);
}

/* Handles the first part of an ask. Its first member is the claiming node, with
 * the parent that took it in. */
static int first_ask(struct ov_node *node, struct ov_place *place,
                     struct ov_claim *claim, struct ov_item *item)
{
    struct ov_rd cursors = cursors_of(claim, item);
    bool has_more = (item->flags & OV_ITEM_MORE) != 0;
    struct ov_member_ref ref;
    struct ov_ask *ask;

    if (claim->members == 0)
        return OV_EPROTO;
    ref = ov_member_decode(item);
    claim->members--;
    if (ref.node != claim->node || ref.attach != claim->attach ||
        !is_beneath(node, place->child, &ref) || ref.parent < place->child)
        return OV_EPROTO;
    if (is_lost(node, claim->node)) {
        turn_down(node, place, claim, OV_REFUSE_LOST, has_more);
        return 0;
    }
    if (!ov_node_asks(node)) {
        turn_down(node, place, claim, OV_REFUSE_UNATTACHED, has_more);
        return 0;
    }
    ask = ov_asks_begin(node, ov_place_index(node, place), &ref);
    if (ask == NULL) {
        turn_down(node, place, claim, OV_REFUSE_FULL, has_more);
        return 0;
    }
    place->coming = ov_ask_index(node->tree.claims, ask);
    return take_cursors(node, place, claim, cursors, false);
}

int ov_adopt_on_ask(struct ov_node *node, uint16_t index, struct ov_item *item)
{
    struct ov_link *link = &node->links[index];
    bool has_more = (item->flags & OV_ITEM_MORE) != 0;
    struct ov_place *place;
    struct ov_claim claim;
    struct ov_ask *ask;
    bool has_room;

    if (ov_claim_decode(item, &claim) || link->state != OV_LINK_UP ||
        link->place == OV_NO_PLACE)
        return OV_EPROTO;
    place = &node->tree.places[link->place];
    if (place->coming == OV_DISCARD) {
        place->coming = has_more ? OV_DISCARD : OV_NONE;
        return 0;
    }
    if (place->coming == OV_NONE) {
        int rc = first_ask(node, place, &claim, item);

        if (rc != 0 || place->coming >= OV_DISCARD)
            return rc;
    }
    ask = &node->tree.claims->asks[place->coming];
    if (claim.node != ask->node || claim.attach != ask->attach ||
        take_members(node, ask, &claim, item, &has_room))
        return OV_EPROTO;
    if (!has_room) {
        ov_asks_drop(node, ask);
        turn_down(node, place, &claim, OV_REFUSE_FULL, has_more);
    } else if (!has_more) {
        place->coming = OV_NONE;
        pass_on(node, ask);
    }
    return 0;
}

/* --- answer */

/* Notes that the nodes in this part of the answer are not granted. */
static int strip(struct ov_node *node, struct ov_ask *ask, struct ov_rd rd)
{
    struct ov_tree *tree = &node->tree;
    struct ov_cell_list all = ask->claimed;
    struct ov_rd again = rd;
    struct ov_member *member;
    struct ov_cell *cell;

    while (ov_rd_left(&rd) > 0) {
        member = ov_members_find(&tree->members, ov_rd_u32(&rd));
        if (member == NULL)
            return OV_EPROTO;
        member->is_marked = true;
    }
    ask->claimed = ov_cells_none();
    while ((cell = ov_cells_pop(tree->claims, &all)) != NULL) {
        member = ov_members_find(&tree->members, cell->node);
        ov_cells_push(tree->claims,
                      member->is_marked ? &ask->stripped : &ask->claimed, cell);
    }
    while (ov_rd_left(&again) > 0)
        ov_members_find(&tree->members, ov_rd_u32(&again))->is_marked = false;
    return 0;
}

int ov_adopt_on_answer(struct ov_node *node, struct ov_item *item)
{
    struct ov_answer answer;
    struct ov_ask *ask;

    if (ov_answer_decode(item, &answer) || answer.reason >= OV_REFUSE_REASONS)
        return OV_EPROTO;
    ask = ov_asks_find(node, answer.node, answer.attach);
    if (ask == NULL || ask->state != OV_ASK_ASKED)
        return 0; /* the ask was dropped meanwhile */
    if (answer.reason != OV_GRANTED) {
        ov_settle_refuse(node, ask, (enum ov_refuse_reason)answer.reason);
        return 0;
    }
    if (ov_rd_left(&item->body) > 0 && strip(node, ask, item->body))
        return OV_EPROTO;
    if ((item->flags & OV_ITEM_MORE) == 0)
        ov_settle_grant(node, ask);
    return 0;
}
