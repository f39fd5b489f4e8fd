/* Creates, finds and frees the asks of a node, with the members that they
 * claim. */
#include "overlay/asks.h"

struct ov_ask *ov_asks_begin(struct ov_node *node, uint16_t place,
                             const struct ov_member_ref *who)
{
    struct ov_tree *tree = &node->tree;
    struct ov_member *member = ov_members_add(&tree->members, who->node);
    struct ov_ask *ask = member == NULL ? NULL : ov_ask_new(tree->claims);

    OV_ASSERT(tree->places[place].kind == OV_PLACE_LINK);
    if (ask == NULL)
        return NULL;
    ask->node = who->node;
    ask->attach = who->attach;
    ask->parent = who->parent;
    ask->place = place;
    ask->same = member->ask;
    member->ask = ov_ask_index(tree->claims, ask);
    member->asks++;
    tree->places[place].asks++;
    return ask;
}

bool ov_asks_claim(struct ov_node *node, struct ov_ask *ask,
                   const struct ov_member_ref *ref)
{
    struct ov_tree *tree = &node->tree;
    struct ov_member *member = ov_members_add(&tree->members, ref->node);
    struct ov_cell *cell = member == NULL ? NULL : ov_cell_new(tree->claims);

    OV_ASSERT(ask->state == OV_ASK_COMING);
    if (cell == NULL)
        return false;
    cell->node = ref->node;
    cell->attach = ref->attach;
    cell->parent = ref->parent;
    ov_cells_push(tree->claims, &ask->claimed, cell);
    member->asks++;
    return true;
}

struct ov_ask *ov_asks_find(const struct ov_node *node, uint32_t who,
                            uint64_t attach)
{
    const struct ov_tree *tree = &node->tree;
    const struct ov_member *member = ov_members_find(&tree->members, who);
    uint32_t at = member == NULL ? OV_NONE : member->ask;

    for (; at != OV_NONE; at = tree->claims->asks[at].same) {
        if (tree->claims->asks[at].attach == attach)
            return &tree->claims->asks[at];
    }
    return NULL;
}

static void unclaim(struct ov_node *node, const struct ov_cell_list *list)
{
    const struct ov_claims *claims = node->tree.claims;

    for (uint32_t at = list->first; at != OV_NONE; at = claims->cells[at].next)
        ov_members_find(&node->tree.members, claims->cells[at].node)->asks--;
}

static void unchain(struct ov_node *node, const struct ov_ask *ask)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_member *member = ov_members_find(&node->tree.members, ask->node);
    uint32_t *link = &member->ask;

    while (*link != ov_ask_index(claims, ask))
        link = &claims->asks[*link].same;
    *link = ask->same;
    member->asks--;
}

void ov_asks_drop(struct ov_node *node, struct ov_ask *ask)
{
    struct ov_claims *claims = node->tree.claims;

    OV_ASSERT(ask->state != OV_ASK_FREE);
    if (ask->state == OV_ASK_DUE)
        ov_ask_not_due(claims, ask);
    unclaim(node, &ask->claimed);
    unclaim(node, &ask->stripped);
    unchain(node, ask);
    node->tree.places[ask->place].asks--;
    node->tree.has_changed = true;
    ov_ask_free(claims, ask);
}
