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
        flows[i] = (struct ov_flow){.node = TOPO_NONE, .rank = TOPO_NONE};
}

/* Frames that the child sent on earlier links and that are not passed on. */
static uint32_t leftover_of(const struct ov_node *node, uint32_t child)
{
    uint64_t leftover = 0;

    for (uint16_t i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];

        if (place->kind > OV_PLACE_LINK && place->child == child)
            leftover += place->received - place->drained;
    }
    return (uint32_t)leftover;
}

/* The child of this hold has come back. */
static bool takes_up(const struct ov_node *node, struct ov_place *place,
                     uint32_t child, uint16_t link)
{
    if (place->kind != OV_PLACE_HOLD_ASKED || place->child != child)
        return false;
    place->leftover = leftover_of(node, child);
    place->kind = OV_PLACE_LINK;
    place->link = link;
    return true;
}

uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link)
{
    struct ov_tree *tree = &node->tree;

    for (uint16_t i = 0; i < tree->places_used; i++) {
        if (takes_up(node, &tree->places[i], child, link))
            return i;
    }
    for (uint16_t i = 0; i < node->links_max - 1; i++) {
        struct ov_place *place = &tree->places[i];

        if (place->kind != OV_PLACE_FREE)
            continue;
        reset(node, place);
        place->leftover = leftover_of(node, child);
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

/* Nobody is counted in a place that may go to another child. Those who wait
 * for an answer are forgotten; those who have it, the root still knows. */
static void forget_members(struct ov_node *node, uint16_t index)
{
    struct ov_tree *tree = &node->tree;
    struct ov_place *place = &tree->places[index];
    uint32_t left = place->members + place->tentative;
    struct topo_range level = {place->child, place->child};

    for (; left > 0; level = topo_tree_below(&tree->plan, level)) {
        OV_ASSERT(level.first <= level.last);
        for (uint32_t n = level.first; n <= level.last && left > 0; n++) {
            struct ov_member *member = ov_members_find(&tree->members, n);

            if (member == NULL || member->state == OV_MEMBER_ABSENT ||
                member->place != index)
                continue;
            if (member->state == OV_MEMBER_TENTATIVE)
                member->state = OV_MEMBER_ABSENT;
            member->place = OV_NO_PLACE;
            left--;
        }
    }
}

void ov_place_free(struct ov_node *node, struct ov_place *place)
{
    forget_members(node, (uint16_t)(place - node->tree.places));
    place->kind = OV_PLACE_FREE;
}

/* A hold of this release has no duty but to pass its leftovers on, or to wait
 * for a child that was asked for. */
static void free_when_drained(struct ov_node *node, struct ov_place *place)
{
    if (!ov_place_counts(place) && place->drained == place->received)
        ov_place_free(node, place);
}

/* A frame left a hold: the child has room for one more, if it came back. */
static void relieve(struct ov_node *node, uint32_t child)
{
    uint16_t index = ov_place_find(node, child);
    struct ov_place *place;

    if (index == OV_NO_PLACE)
        return;
    place = &node->tree.places[index];
    OV_ASSERT(place->leftover > 0);
    place->leftover--;
    ov_place_grant(node, place);
}

void ov_place_drained(struct ov_node *node, struct ov_place *place)
{
    place->drained++;
    if (place->kind == OV_PLACE_LINK)
        ov_place_grant(node, place);
    else
        relieve(node, place->child);
    free_when_drained(node, place);
}

void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind)
{
    struct ov_members *members = &node->tree.members;
    struct ov_member *member;

    place->kind = (uint8_t)kind;
    place->link = OV_NO_LINK;
    place->since_ns = node->now_ns;
    while ((member = ov_members_pop(members, &place->due, false)) != NULL)
        member->due &= (uint8_t) ~(OV_DUE_ANSWER | OV_DUE_ACK);
    free_when_drained(node, place);
}
