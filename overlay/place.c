/* Takes, changes and frees the places of children and holds. */
#include "overlay/place.h"

#include "overlay/asks.h"
#include "overlay/base/err.h"

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

uint16_t ov_place_children(const struct ov_node *node)
{
    uint16_t children = 0;

    for (uint16_t i = 0; i < node->tree.places_used; i++)
        children =
            (uint16_t)(children + (node->tree.places[i].kind == OV_PLACE_LINK));
    return children;
}

static void reset(struct ov_node *node, struct ov_place *place)
{
    struct ov_flow *flows = place->flows;
    struct ov_buf **queue = place->queue;
    uint8_t *address = place->address;

    *place = (struct ov_place){
        .flows = flows,
        .queue = queue,
        .address = address,
        .acks = {OV_NONE, OV_NONE},
        .words = ov_cells_none(),
        .question_ns = OV_NEVER,
        .coming = OV_NONE,
        .link = OV_NO_LINK,
    };
    for (unsigned i = 0; i < node->cfg->streams_max; i++)
        flows[i] = (struct ov_flow){.node = TOPO_NONE, .rank = TOPO_NONE};
}

/* How many frames that the child sent on earlier links this node has not passed
 * on yet. */
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

/* True for a hold that can be merged with another. Frames that are not yet
 * passed on count against the limit of the child that sent them, so a hold that
 * has frames must stay a hold of that child alone. */
static bool is_plain_hold(const struct ov_place *place)
{
    return place->kind > OV_PLACE_LINK && place->asks == 0 &&
           place->drained == place->received;
}

/* Merges the clocks of two holds: the merged hold is as old as the younger of
 * them, but members that are gone are asked about at the earlier of the two
 * times. */
static void join_clocks(struct ov_node *node, struct ov_place *to,
                        const struct ov_place *from)
{
    /* Unless both holds began with a silence, a child is dead or is being
     * dialled. */
    bool is_early =
        to->kind != OV_PLACE_HOLD_SILENT || from->kind != OV_PLACE_HOLD_SILENT;

    if (to->since_ns < from->since_ns)
        to->since_ns = from->since_ns;
    to->kind = is_early ? OV_PLACE_HOLD_REFUSED : OV_PLACE_HOLD_SILENT;
    if (!is_early)
        to->question_ns = to->since_ns + node->cfg->times.adoption_ns;
    else if (from->question_ns < to->question_ns)
        to->question_ns = from->question_ns;
    to->is_question_due = to->is_question_due || from->is_question_due;
}

/* Merges hold `from` into hold `to`. In each stream the lower of the two bases
 * counts. */
static void join_holds(struct ov_node *node, struct ov_place *to,
                       struct ov_place *from)
{
    struct ov_members *members = &node->tree.members;
    uint16_t to_index = ov_place_index(node, to);
    uint16_t from_index = ov_place_index(node, from);

    join_clocks(node, to, from);
    for (uint32_t i = 0; i <= members->mask; i++) {
        if (members->table[i].place == from_index)
            members->table[i].place = to_index;
    }
    for (unsigned i = 0; i < node->cfg->streams_max; i++) {
        bool is_needed = to->flows[i].is_needed || from->flows[i].is_needed;

        if (from->flows[i].is_needed &&
            (!to->flows[i].is_needed ||
             from->flows[i].base < to->flows[i].base))
            to->flows[i] = from->flows[i];
        to->flows[i].is_needed = is_needed;
    }
    to->child = TOPO_NONE;
    to->members += from->members;
    from->members = 0;
    from->kind = OV_PLACE_FREE;
}

static struct ov_place *make_room(struct ov_node *node)
{
    struct ov_place *first = NULL;

    for (uint16_t i = 0; i < node->tree.places_max; i++) {
        struct ov_place *place = &node->tree.places[i];

        if (!is_plain_hold(place))
            continue;
        if (first != NULL) {
            join_holds(node, first, place);
            return place;
        }
        first = place;
    }
    return NULL;
}

static struct ov_place *find_free(struct ov_node *node)
{
    for (uint16_t i = 0; i < node->tree.places_max; i++) {
        if (node->tree.places[i].kind == OV_PLACE_FREE)
            return &node->tree.places[i];
    }
    return make_room(node);
}

/* How many frames this node must keep room for without `child`: those that
 * other children may send without asking, and those that holds still have. */
static uint32_t standing_of(const struct ov_node *node, uint32_t child)
{
    uint64_t frames = 0;

    for (uint16_t i = 0; i < node->tree.places_used; i++) {
        const struct ov_place *place = &node->tree.places[i];

        if (place->is_lent || place->kind == OV_PLACE_FREE ||
            place->child == child)
            continue;
        frames += place->kind == OV_PLACE_LINK
                      ? node->cfg->up_frames
                      : place->received - place->drained;
    }
    return (uint32_t)frames;
}

uint16_t ov_place_take(struct ov_node *node, uint32_t child, uint16_t link)
{
    struct ov_tree *tree = &node->tree;
    struct ov_place *place = find_free(node);
    uint16_t index;

    if (place == NULL)
        return OV_NO_PLACE;
    index = ov_place_index(node, place);
    reset(node, place);
    /* A child that has come back gets no more buffers here than one that
     * stayed: its earlier frames count against its limit. */
    place->leftover = leftover_of(node, child);
    OV_ASSERT(place->leftover <= node->cfg->up_frames);
    /* The memory is laid out for standing_max children that may send without
     * asking; a further child is a surplus child, and asks for each frame. */
    place->is_lent = standing_of(node, child) + node->cfg->up_frames >
                     (uint32_t)node->cfg->standing_max * node->cfg->up_frames;
    place->kind = OV_PLACE_LINK;
    place->child = child;
    place->link = link;
    if (index >= tree->places_used)
        tree->places_used = (uint16_t)(index + 1);
    return index;
}

/* Lends a frame to a surplus child if the child has asked for one, and not all
 * frames that can be lent are lent. */
static void lend(struct ov_node *node, struct ov_place *place)
{
    if (!place->is_wanting || node->tree.claims->lent >= node->cfg->lent_frames)
        return;
    place->is_wanting = false;
    node->tree.claims->wanting--;
    node->tree.claims->lent++;
    node->tree.claims->lend_turn = ov_place_index(node, place);
    place->limit++;
    place->is_limit_due = true;
    ov_node_serve(node, place->link);
}

/* Notes that frames which were lent are free again. */
static void end_loan(struct ov_node *node, uint64_t frames)
{
    struct ov_claims *claims = node->tree.claims;

    OV_ASSERT(frames <= claims->lent);
    claims->lent -= (uint32_t)frames;
}

/* Lends frames that are free again to the surplus children that wait for one,
 * in turn. */
static void lend_on(struct ov_node *node)
{
    struct ov_tree *tree = &node->tree;
    uint32_t turn = tree->claims->lend_turn;

    for (uint32_t i = 1; i <= tree->places_used && tree->claims->wanting > 0 &&
                         tree->claims->lent < node->cfg->lent_frames;
         i++) {
        struct ov_place *place = &tree->places[(turn + i) % tree->places_used];

        if (place->is_wanting)
            ov_place_grant(node, place);
    }
}

void ov_place_grant(struct ov_node *node, struct ov_place *place)
{
    uint64_t frames = node->cfg->up_frames;
    uint64_t limit = place->drained + frames - place->leftover;

    if (place->kind != OV_PLACE_LINK ||
        node->links[place->link].state != OV_LINK_UP || limit <= place->limit)
        return;
    if (place->is_lent) {
        lend(node, place);
        return;
    }
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

int ov_place_on_want(struct ov_node *node, struct ov_place *place)
{
    if (!place->is_lent || place->is_wanting)
        return OV_EPROTO;
    place->is_wanting = true;
    node->tree.claims->wanting++;
    ov_place_grant(node, place);
    return 0;
}

bool ov_place_given_back(struct ov_node *node, struct ov_place *place)
{
    if (place->received >= place->limit)
        return false;
    place->received++;
    ov_place_drained(node, place);
    return true;
}

struct ov_buf *ov_place_pop(const struct ov_node *node, struct ov_place *place)
{
    struct ov_buf *buf = ov_place_first(place);

    place->queue_at = (uint16_t)((place->queue_at + 1) % node->cfg->up_frames);
    place->queue_len--;
    return buf;
}

/* Notes that a frame of a hold was passed on: if the hold's child has come
 * back, it may send one frame more. */
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
    OV_ASSERT(place->drained < place->received);
    place->drained++;
    if (place->is_lent)
        end_loan(node, 1);
    if (place->kind != OV_PLACE_LINK)
        relieve(node, place->child);
    else if (!place->is_lent) /* a surplus child waits for its turn */
        ov_place_grant(node, place);
    ov_place_tidy(node, place);
    lend_on(node);
}

void ov_place_ack(struct ov_node *node, struct ov_member *member, bool at_once)
{
    struct ov_place *place = ov_place_of(node, member);

    if (place == NULL)
        return;
    ov_members_due(&node->tree.members, &place->acks, member);
    if (at_once)
        ov_node_serve(node, place->link);
}

struct ov_member *ov_place_ack_pop(struct ov_node *node, struct ov_place *place)
{
    struct ov_member *member;

    while ((member = ov_members_pop(&node->tree.members, &place->acks))) {
        if (member->place == ov_place_index(node, place))
            return member;
        ov_place_ack(node, member, true); /* the member has meanwhile moved to
                                             another place */
    }
    return NULL;
}

void ov_place_say(struct ov_node *node, struct ov_place *place,
                  const struct ov_word *word, struct ov_cell_list *stripped)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_cell *cell = ov_cell_new(claims);

    OV_ASSERT(place->kind == OV_PLACE_LINK);
    if (cell == NULL) {
        ov_place_end_link(node, place);
        return;
    }
    cell->kind = (uint8_t)word->kind;
    cell->flags = word->flags;
    cell->node = word->node;
    cell->parent = word->reason;
    cell->attach = word->attach;
    if (stripped != NULL) {
        cell->list = stripped->first;
        *stripped = ov_cells_none();
    }
    ov_cells_push(claims, &place->words, cell);
    ov_node_serve(node, place->link);
}

/* --- holds */

void ov_place_tell_address(struct ov_node *node, struct ov_place *place)
{
    if (place->address_bytes == 0 || place->is_address_due)
        return;
    place->is_address_due = true;
    node->tree.claims->addresses_due++;
    ov_node_serve_parent(node);
}

static void forget_due(struct ov_node *node, struct ov_place *place)
{
    if (place->is_address_due)
        node->tree.claims->addresses_due--;
    place->is_address_due = false;
    while (ov_place_ack_pop(node, place) != NULL)
        ;
    if (place->coming < OV_DISCARD)
        ov_asks_drop(node, &node->tree.claims->asks[place->coming]);
    place->coming = OV_NONE;
    ov_cells_free(node->tree.claims, &place->words);
    place->is_limit_due = false;
    place->is_asked_due = false;
    place->is_path_due = false;
    node->tree.claims->wanting =
        (uint16_t)(node->tree.claims->wanting - place->is_wanting);
    place->is_wanting = false;
}

void ov_place_to_hold(struct ov_node *node, struct ov_place *place,
                      enum ov_place_kind kind)
{
    OV_ASSERT(place->kind == OV_PLACE_LINK);
    forget_due(node, place);
    /* Frames that a surplus child was lent and has not sent can be lent to
     * others. Frames received from it count until they are passed on. */
    if (place->is_lent)
        end_loan(node, place->limit - place->received);
    place->limit = place->received;
    place->kind = (uint8_t)kind;
    place->link = OV_NO_LINK;
    place->since_ns = node->now_ns;
    /* By this time a node that is alive has usually joined again, here or
     * elsewhere. */
    place->question_ns = node->now_ns + node->cfg->times.refused_ns;
    if (place->question_ns < node->tree.claims->hold_ns)
        node->tree.claims->hold_ns = place->question_ns;
    node->tree.has_changed = true;
    ov_place_tidy(node, place);
    lend_on(node);
}

void ov_place_end_link(struct ov_node *node, struct ov_place *place)
{
    uint16_t index = place->link;

    OV_ASSERT(place->kind == OV_PLACE_LINK);
    node->links[index].is_ending = true;
    node->links[index].place = OV_NO_PLACE;
    ov_node_serve(node, index);
    ov_place_to_hold(node, place, OV_PLACE_HOLD_UNCLEAR);
}

void ov_place_tidy(struct ov_node *node, struct ov_place *place)
{
    if (place->kind <= OV_PLACE_LINK || place->members > 0 || place->asks > 0 ||
        place->drained != place->received)
        return;
    place->kind = OV_PLACE_FREE;
    place->question_ns = OV_NEVER;
    place->is_question_due = false;
    node->tree.has_changed = true;
}
