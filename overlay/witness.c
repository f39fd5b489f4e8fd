/* Asking a second witness, and being one. */
#include "overlay/witness.h"

#include "overlay/base/err.h"
#include "overlay/place.h"

static bool is_up(const struct ov_node *node, uint16_t link)
{
    return link < node->links_max && node->links[link].state == OV_LINK_UP;
}

void ov_witness_drop(struct ov_node *node, struct ov_out *out)
{
    if (node->aside.address != NULL)
        ov_out_put(out, node->aside.address);
    node->aside.address = NULL;
    node->aside.link = OV_NO_LINK;
}

static bool say(struct ov_node *node, const struct ov_aside *word)
{
    if (node->aside.link != OV_NO_LINK)
        return false;
    node->aside = *word;
    ov_node_serve(node, word->link);
    return true;
}

/* --- asking */

/* The root asks its children in turn: one of them may not answer. */
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
    struct ov_aside word = {
        .address = address, .attach = member->attach, .node = member->node};

    word.link = is_root ? child_to_ask(node, member->node) : node->tree.parent;
    if (address == NULL)
        return false;
    if (!is_up(node, word.link) || !say(node, &word))
        ov_out_put(out, address);
    /* One without a parent is not heard either: it asks when it has one. */
    return !is_root || word.link != OV_NO_LINK;
}

/* --- being asked */

/* A parent may ask about anybody else; a child about those beneath it. */
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
        return 0; /* we are asked again */
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

void ov_witness_on_probed(struct ov_node *node, const struct ov_event *ev)
{
    struct ov_aside word = {.attach = ev->seq,
                            .node = ev->node,
                            .link = ev->link,
                            .is_refused = ev->is_refused};

    if (is_up(node, ev->link))
        say(node, &word);
}
