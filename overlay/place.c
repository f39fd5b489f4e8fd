/* Places of children and holds. */
#include "overlay/place.h"

uint16_t ov_place_find(const struct ov_node *node, uint32_t child)
{
    const struct ov_tree *tree = &node->tree;

    for (uint16_t i = 0; i < tree->places_used; i++) {
        if (tree->places[i].kind == OV_PLACE_LINK &&
            tree->places[i].child == child)
            return i;
    }
    return OV_NO_PLACE;
}

static void reset(struct ov_node *node, struct ov_place *place)
{
    struct ov_flow *flows = place->flows;
    struct ov_buf **queue = place->queue;

    *place = (struct ov_place){
        .flows = flows,
        .queue = queue,
        .due = {OV_NO_MEMBER, OV_NO_MEMBER},
        .link = OV_NO_LINK,
    };
    for (unsigned i = 0; i < node->cfg->streams_max; i++)
        flows[i] = (struct ov_flow){.node = TOPO_NONE};
}

uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link)
{
    struct ov_tree *tree = &node->tree;

    for (uint16_t i = 0; i < node->links_max - 1; i++) {
        struct ov_place *place = &tree->places[i];

        if (place->kind != OV_PLACE_FREE)
            continue;
        reset(node, place);
        place->kind = OV_PLACE_LINK;
        place->child = child;
        place->link = link;
        place->flows[0].is_needed = true;
        if (i >= tree->places_used)
            tree->places_used = (uint16_t)(i + 1);
        return i;
    }
    return OV_NO_PLACE;
}

void ov_place_grant(struct ov_node *node, struct ov_place *place)
{
    uint64_t frames = node->cfg->up_frames;
    uint64_t limit = place->drained + frames - place->leftover;

    if (place->kind != OV_PLACE_LINK || limit <= place->limit)
        return;
    if (limit - place->limit < (frames + 1) / 2 &&
        place->limit != place->received)
        return;
    place->limit = limit;
    place->is_limit_due = true;
    ov_node_serve(node, place->link);
}

bool ov_place_queue(const struct ov_node *node, struct ov_place *place,
                    struct ov_buf *buf)
{
    uint16_t frames = node->cfg->up_frames;

    if (place->received >= place->limit || place->queue_len >= frames)
        return false;
    place->received++;
    place->queue[(place->queue_at + place->queue_len) % frames] = buf;
    place->queue_len++;
    return true;
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place)
{
    struct ov_buf *buf = ov_place_first(place);

    OV_ASSERT(place->queue_len > 0);
    place->queue_at = (uint16_t)((place->queue_at + 1) % node->cfg->up_frames);
    place->queue_len--;
    return buf;
}

/* A hold of this release has no duty but to pass its leftovers on. */
static void free_when_drained(struct ov_place *place)
{
    if (place->kind != OV_PLACE_LINK && place->drained == place->received)
        place->kind = OV_PLACE_FREE;
}

void ov_place_drained(struct ov_node *node, struct ov_place *place)
{
    place->drained++;
    ov_place_grant(node, place);
    free_when_drained(place);
}

void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind)
{
    place->kind = (uint8_t)kind;
    place->link = OV_NO_LINK;
    place->since_ns = node->now_ns;
    free_when_drained(place);
}
