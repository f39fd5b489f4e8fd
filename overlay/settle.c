/* Grants and refuses claims, and removes members. */
#include "overlay/settle.h"

#include "overlay/asks.h"
#include "overlay/place.h"

/* --- removing */

/* Ends the link to a child that is no longer beneath this node. */
static void drop_child(struct ov_node *node, struct ov_place *place,
                       enum ov_member_state state)
{
    struct ov_link *link = &node->links[place->link];

    if (state == OV_MEMBER_LOST)
        link->refuse = OV_REFUSE_LOST;
    ov_place_end_link(node, place);
}

/* Removes a member from its place. Each node that counts it must learn this,
 * down to its parent: a node that wrongly counts a member keeps its base low
 * for it, and at last asks about it. */
static void take_out(struct ov_node *node, struct ov_member *member,
                     enum ov_member_state state)
{
    struct ov_place *place = &node->tree.places[member->place];

    OV_ASSERT(member->place != OV_NO_PLACE);
    OV_ASSERT(place->members > 0);
    place->members--;
    member->place = OV_NO_PLACE;
    node->tree.has_changed = true;
    if (place->kind != OV_PLACE_LINK)
        ov_place_tidy(node, place);
    else if (place->child == member->node)
        drop_child(node, place, state);
    else
        ov_place_say(node, place,
                     &(struct ov_word){
                         .kind = OV_ITEM_LEFT,
                         .flags = state == OV_MEMBER_LOST ? OV_ITEM_FINAL : 0,
                         .node = member->node,
                     },
                     NULL);
}

void ov_settle_remove(struct ov_node *node, struct ov_member *member,
                      enum ov_member_state state)
{
    /* When the member is not confirmed its claim may still wait for an answer,
     * which follows this message on the same link, and decides. */
    if (member->state == OV_MEMBER_CONFIRMED) {
        member->state = (uint8_t)state;
        take_out(node, member, state);
    } else if (state == OV_MEMBER_LOST) {
        member->state = OV_MEMBER_LOST; /* a later hello from the node is
                                           refused */
    }
}

/* --- granting */

static void confirm(struct ov_node *node, uint16_t place,
                    const struct ov_member_ref *ref)
{
    struct ov_tree *tree = &node->tree;
    struct ov_member *member = ov_members_find(&tree->members, ref->node);

    if (member->state == OV_MEMBER_LOST)
        return; /* a loss that the root has declared is final */
    if (member->state == OV_MEMBER_CONFIRMED && member->place != place)
        take_out(node, member, OV_MEMBER_ABSENT);
    if (member->place != place) {
        member->place = place;
        tree->places[place].members++;
    }
    member->state = OV_MEMBER_CONFIRMED;
    /* A node whose claim the root has granted is alive, whatever dials have
     * shown before. */
    member->is_refused = false;
    member->is_seconded = false;
    member->attach = ref->attach;
    member->parent = ref->parent;
    if (!ov_node_is_root(node))
        return;
    if (!member->is_known) {
        member->is_known = true;
        tree->joined++;
    }
    /* Acknowledgements that were sent earlier may have been lost with a
     * link. */
    if (member->accepted > 0)
        ov_place_ack(node, member, true);
}

/* Welcomes the child at this place, whose hello was granted. */
static void welcome(struct ov_node *node, struct ov_place *place,
                    struct ov_cell_list *stripped)
{
    ov_link_move(&node->links[place->link], OV_LINK_UP);
    place->is_asked_due = false;
    place->is_path_due = true;
    ov_place_say(
        node, place,
        &(struct ov_word){.kind = OV_ITEM_WELCOME, .attach = place->attach},
        stripped);
    place->is_limit_due = place->is_lent; /* a surplus child learns from LIMIT
                                             that it is one */
    ov_place_grant(node, place);
    ov_place_tell_address(node, place);
}

static bool said_hello(const struct ov_node *node, const struct ov_place *place,
                       uint32_t who)
{
    return place->kind == OV_PLACE_LINK && place->child == who &&
           node->links[place->link].state == OV_LINK_JOINING;
}

static void tell(struct ov_node *node, struct ov_place *place,
                 const struct ov_word *word, struct ov_cell_list *stripped)
{
    if (place->kind != OV_PLACE_LINK)
        ov_place_tidy(node, place);
    else
        ov_place_say(node, place, word, stripped);
}

void ov_settle_grant(struct ov_node *node, struct ov_ask *ask)
{
    struct ov_tree *tree = &node->tree;
    struct ov_place *place = &tree->places[ask->place];
    struct ov_word word = {
        .kind = OV_ITEM_ANSWER, .node = ask->node, .attach = ask->attach};
    struct ov_member_ref ref = {ask->node, ask->parent, ask->attach};
    struct ov_cell_list stripped;

    OV_ASSERT(ask->state == OV_ASK_ASKED);
    confirm(node, ask->place, &ref);
    for (uint32_t at = ask->claimed.first; at != OV_NONE;
         at = tree->claims->cells[at].next) {
        const struct ov_cell *cell = &tree->claims->cells[at];

        ref = (struct ov_member_ref){cell->node, cell->parent, cell->attach};
        confirm(node, ask->place, &ref);
    }
    for (uint32_t at = ask->stripped.first; at != OV_NONE;
         at = tree->claims->cells[at].next)
        ov_members_find(&tree->members, tree->claims->cells[at].node)->asks--;
    stripped = ask->stripped;
    ask->stripped = ov_cells_none();
    ov_asks_drop(node, ask);
    if (said_hello(node, place, word.node))
        welcome(node, place, &stripped);
    else
        tell(node, place, &word, &stripped);
    ov_cells_free(tree->claims, &stripped);
}

/* --- refusing */

void ov_settle_refuse(struct ov_node *node, struct ov_ask *ask,
                      enum ov_refuse_reason reason)
{
    struct ov_place *place = &node->tree.places[ask->place];
    struct ov_word word = {.kind = OV_ITEM_ANSWER,
                           .node = ask->node,
                           .attach = ask->attach,
                           .reason = reason};

    ov_asks_drop(node, ask);
    if (!said_hello(node, place, word.node)) {
        tell(node, place, &word, NULL);
        return;
    }
    node->links[place->link].refuse = (uint8_t)reason;
    ov_place_end_link(node, place);
}

void ov_settle_refuse_all(struct ov_node *node)
{
    struct ov_claims *claims = node->tree.claims;

    for (uint32_t i = 0; claims != NULL && i < claims->asks_used; i++) {
        /* A claim of which parts are still to come is refused when it is
         * complete. */
        if (claims->asks[i].state >= OV_ASK_DUE)
            ov_settle_refuse(node, &claims->asks[i], OV_REFUSE_UNATTACHED);
    }
}

/* --- judging */

static bool matches(const struct ov_node *node, const struct ov_cell *cell)
{
    const struct ov_member *member =
        ov_members_find(&node->tree.members, cell->node);

    return member->state == OV_MEMBER_CONFIRMED &&
           member->attach == cell->attach && member->parent == cell->parent;
}

/* True when each node from that of the cell up to `top` has the parent that the
 * claim names. */
static bool hangs_on(const struct ov_node *node, const struct ov_cell *cell,
                     uint32_t top)
{
    uint32_t at = cell->node;

    while (at != top) {
        const struct ov_member *member =
            ov_members_find(&node->tree.members, at);

        if (member == NULL || !member->is_marked)
            return false;
        at = member->parent;
    }
    return true;
}

static void mark(struct ov_node *node, const struct ov_cell_list *list,
                 bool is_begin)
{
    const struct ov_claims *claims = node->tree.claims;

    for (uint32_t at = list->first; at != OV_NONE;
         at = claims->cells[at].next) {
        const struct ov_cell *cell = &claims->cells[at];

        ov_members_find(&node->tree.members, cell->node)->is_marked =
            is_begin && matches(node, cell);
    }
}

/* Strips members that have moved. They are not granted: for each, the root's
 * own entry for it, or for a node between it and the claiming node, differs
 * from the claim. */
static void strip(struct ov_node *node, struct ov_ask *ask)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_cell_list all = ask->claimed;
    struct ov_cell *cell;

    mark(node, &all, true);
    for (uint32_t at = all.first; at != OV_NONE; at = claims->cells[at].next)
        claims->cells[at].kind = !hangs_on(node, &claims->cells[at], ask->node);
    mark(node, &all, false);
    ask->claimed = ov_cells_none();
    while ((cell = ov_cells_pop(claims, &all)) != NULL)
        ov_cells_push(claims, cell->kind != 0 ? &ask->stripped : &ask->claimed,
                      cell);
}

void ov_settle_judge(struct ov_node *node, struct ov_ask *ask)
{
    const struct ov_member *member =
        ov_members_find(&node->tree.members, ask->node);

    OV_ASSERT(ov_node_is_root(node));
    if (member->state == OV_MEMBER_LOST) {
        ov_settle_refuse(node, ask, OV_REFUSE_LOST);
    } else if (member->attach >= ask->attach) {
        /* A newer claim of the node has arrived before this one: granting this
         * one would move the node back to a parent that it has left. */
        ov_settle_refuse(node, ask, OV_REFUSE_STALE);
    } else {
        strip(node, ask);
        ov_settle_grant(node, ask);
    }
}
