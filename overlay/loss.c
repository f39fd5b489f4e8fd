/* What the end of a link means. */
#include "overlay/loss.h"

#include "overlay/dial.h"
#include "overlay/down.h"
#include "overlay/place.h"

static uint64_t end_ns(const struct ov_node *node, const struct ov_place *hold)
{
    return hold->since_ns + node->cfg->timers.giveup_ns;
}

static void hold_asked(struct ov_node *node, struct ov_place *place)
{
    ov_place_to_hold(node, place, OV_PLACE_HOLD_ASKED);
    if (end_ns(node, place) < node->tree.hold_ns)
        node->tree.hold_ns = end_ns(node, place);
}

void ov_loss_on_down(struct ov_node *node, uint16_t index,
                     enum ov_place_kind hold, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;
    struct ov_link *link = &node->links[index];
    bool was_up = link->state == OV_LINK_UP;
    uint32_t peer = link->peer;
    struct ov_place *place;

    ov_link_move(link, OV_LINK_FREE);
    if (index == tree->parent) {
        tree->parent = OV_NO_LINK;
        if (node->goodbye != 0 && ov_down_is_done(node)) {
            return; /* we leave, ov_node_step() says so */
        } else if (was_up) {
            tree->is_attached = false;
            ov_out_act(out, OV_ACT_LOST)->node = peer;
        } else {
            tree->is_dialling = true;
            ov_dial_failed(node, out);
        }
        return;
    }
    if (link->place == OV_NO_PLACE)
        return;
    place = &tree->places[link->place];
    if (!was_up) {
        hold_asked(node, place);
        return;
    }
    if (!ov_down_child_is_done(node, place))
        ov_out_act(out, OV_ACT_LOST)->node = peer;
    ov_place_to_hold(node, place, hold);
    ov_down_refresh(node, out);
}

void ov_loss_close(struct ov_node *node, uint16_t index,
                   enum ov_place_kind hold, struct ov_out *out)
{
    ov_out_act(out, OV_ACT_CLOSE)->link = index;
    ov_loss_on_down(node, index, hold, out);
}

static void end_holds(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    tree->hold_ns = OV_NEVER;
    for (unsigned i = 0; i < tree->places_used; i++) {
        struct ov_place *place = &tree->places[i];

        if (place->kind != OV_PLACE_HOLD_ASKED)
            continue;
        if (node->now_ns < end_ns(node, place) || !ov_out_has_room(out)) {
            if (end_ns(node, place) < tree->hold_ns)
                tree->hold_ns = end_ns(node, place);
            continue;
        }
        ov_out_act(out, OV_ACT_LOST)->node = place->child;
        ov_place_free(node, place);
    }
    ov_down_refresh(node, out);
}

void ov_loss_on_time(struct ov_node *node, struct ov_out *out)
{
    if (node->now_ns >= node->tree.hold_ns)
        end_holds(node, out);
    ov_out_wake(out, node->tree.hold_ns);
}
