/* Asks a second witness to dial a node, and dials as a second witness for
 * neighbours. */
#include "overlay/witness.h"

#include "overlay/base/err.h"
#include "overlay/place.h"

static bool is_up(const struct ov_node *node, uint16_t link)
{
    return link < node->links_max && node->links[link].state == OV_LINK_UP;
}

/* Queues a question or an answer. When there is no room it is dropped, and the
 * node that waits for it asks again. */
static bool say(struct ov_node *node, uint16_t link, uint32_t who,
                enum ov_item_kind kind, struct ov_cell **out)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_cell *cell = ov_cell_new(claims);

    if (cell == NULL)
        return false;
    cell->kind = (uint8_t)kind;
    cell->node = who;
    cell->parent = link;
    ov_cells_push(claims, &claims->asides, cell);
    ov_node_serve(node, link);
    *out = cell;
    return true;
}

/* Removes the first cell for that link, or for any link. NULL when there is
 * none. */
static struct ov_cell *take(struct ov_claims *claims, uint32_t link)
{
    struct ov_cell_list all = claims->asides;
    struct ov_cell *cell, *found = NULL;

    claims->asides = ov_cells_none();
    while ((cell = ov_cells_pop(claims, &all)) != NULL) {
        if (found == NULL && (link == OV_NO_LINK || cell->parent == link))
            found = cell;
        else
            ov_cells_push(claims, &claims->asides, cell);
    }
    return found;
}

bool ov_witness_next(struct ov_node *node, uint16_t link, struct ov_aside *word)
{
    struct ov_claims *claims = node->tree.claims;
    const struct ov_member *member;
    struct ov_cell *cell;

    if (claims == NULL || claims->asides.first == OV_NONE)
        return false;
    cell = take(claims, link);
    if (cell == NULL)
        return false;
    *word = (struct ov_aside){.node = cell->node};
    if (cell->kind == OV_ITEM_LOOK) {
        member = ov_members_find(&node->tree.members, cell->node);
        word->address = cell->address;
        word->attach = member->attach;
    } else {
        word->attach = cell->attach;
        word->is_refused = cell->flags != 0;
    }
    ov_cell_free(claims, cell);
    return true;
}

void ov_witness_drop(struct ov_node *node, uint16_t link, struct ov_out *out)
{
    struct ov_aside word;

    while (ov_witness_next(node, link, &word)) {
        if (word.address != NULL)
            ov_out_put(out, word.address);
    }
}

void ov_witness_fini(struct ov_node *node, struct ov_out *out)
{
    ov_witness_drop(node, OV_NO_LINK, out);
}

/* --- asking */

/* Chooses the child that the root asks next. It asks its children in turn,
 * because one of them may not answer. */
static uint16_t child_to_ask(struct ov_node *node, uint32_t who)
{
    const struct ov_tree *tree = &node->tree;

    for (uint16_t i = 1; i <= tree->places_used; i++) {
        uint16_t at = (uint16_t)((node->root->witness + i) % tree->places_used);
        const struct ov_place *place = &tree->places[at];

        if (place->kind != OV_PLACE_LINK || place->child == who ||
            !is_up(node, place->link))
            continue;
        node->root->witness = at;
        return place->link;
    }
    return OV_NO_LINK;
}

bool ov_witness_ask(struct ov_node *node, const struct ov_member *member,
                    struct ov_buf *address, struct ov_out *out)
{
    bool is_root = ov_node_is_root(node);
    struct ov_cell *cell;
    uint16_t link;

    if (address == NULL)
        return false;
    OV_ASSERT(address->len_bytes > 0 && address->len_bytes <= OV_ADDRESS_MAX);
    link = is_root ? child_to_ask(node, member->node) : node->tree.parent;
    if (is_up(node, link) &&
        say(node, link, member->node, OV_ITEM_LOOK, &cell)) {
        cell->address = address;
        return true;
    }
    ov_out_put(out, address);
    /* A node without a parent cannot get an answer: it asks when it has a
     * parent. */
    return !is_root || link != OV_NO_LINK;
}

/* --- being asked */

/* True when the neighbour may ask about that node: a parent about any other
 * node, a child about nodes beneath it. */
static bool may_ask(const struct ov_node *node, uint16_t link, uint32_t who)
{
    const struct topo_tree *plan = node->tree.plan;
    uint32_t peer = node->links[link].peer;

    if (node->links[link].state != OV_LINK_UP || who == 0 ||
        who >= plan->nodes || who == node->tree.self)
        return false;
    return link == node->tree.parent ||
           (who != peer && topo_tree_contains(plan, peer, who));
}

int ov_witness_on_look(struct ov_node *node, uint16_t link,
                       struct ov_item *item, struct ov_buf *buf,
                       struct ov_out *out)
{
    uint32_t who, len_bytes;
    struct ov_act *act;
    uint64_t attach;

    if (ov_look_decode(item, &who, &attach) || !may_ask(node, link, who))
        return OV_EPROTO;
    len_bytes = (uint32_t)ov_rd_left(&item->body);
    if (attach == 0 || len_bytes == 0 || len_bytes > OV_ADDRESS_MAX)
        return OV_EPROTO;
    if (!ov_out_has_room(out))
        return 0; /* the neighbour will ask again */
    act = ov_out_act(out, OV_ACT_ADDRESS);
    act->node = who;
    ov_out_slice(out, act, ov_buf_ref(buf),
                 (uint32_t)(item->body.at - buf->mem), len_bytes);
    act = ov_out_act(out, OV_ACT_PROBE);
    act->node = who;
    act->link = link;
    act->seq = attach;
    return 0;
}

bool ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev)
{
    struct ov_cell *cell;

    if (node->tree.claims == NULL)
        return false;
    if (is_up(node, ev->link) &&
        say(node, ev->link, ev->node, OV_ITEM_SEEN, &cell)) {
        cell->attach = ev->seq;
        cell->flags = ev->is_refused;
    }
    return true;
}
