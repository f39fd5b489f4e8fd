/* Asks about members of holds, and decides about them at the root. */
#include "overlay/hold.h"

#include "overlay/base/err.h"
#include "overlay/place.h"
#include "overlay/settle.h"
#include "overlay/witness.h"

/* --- when to ask */

static void wake_at(struct ov_node *node, const struct ov_place *place)
{
    if (place->question_ns < node->tree.claims->hold_ns)
        node->tree.claims->hold_ns = place->question_ns;
}

static void ask_soon(struct ov_node *node, struct ov_place *place)
{
    uint64_t at_ns = node->now_ns + node->cfg->times.refused_ns;

    if (at_ns < place->question_ns)
        place->question_ns = at_ns;
    wake_at(node, place);
}

/* Handles a refused dial to a node that was beneath a dead child: it is taken
 * for dead, and the question about it becomes due. */
static void on_member_refused(struct ov_node *node, uint32_t who)
{
    struct ov_member *member = ov_members_find(&node->tree.members, who);
    struct ov_place *place;

    if (member == NULL || member->state != OV_MEMBER_CONFIRMED)
        return;
    place = &node->tree.places[member->place];
    if (place->kind != OV_PLACE_HOLD_REFUSED || place->child == who)
        return;
    member->is_refused = true;
    ask_soon(node, place);
}

/* Finds a member of a hold whose child refuses dials. NULL when the member has
 * turned up elsewhere. */
static struct ov_member *find_held(struct ov_node *node, uint32_t who)
{
    struct ov_member *member = ov_members_find(&node->tree.members, who);

    if (member == NULL || member->state != OV_MEMBER_CONFIRMED ||
        node->tree.places[member->place].kind != OV_PLACE_HOLD_REFUSED)
        return NULL;
    return member;
}

static void second(struct ov_node *node, struct ov_member *member)
{
    member->is_seconded = true;
    ask_soon(node, &node->tree.places[member->place]);
}

/* Asks a second witness to dial the member, too, because a firewall may refuse
 * our dials while the member lives. */
static void ask_witness(struct ov_node *node, uint32_t who,
                        struct ov_buf *address, struct ov_out *out)
{
    struct ov_member *member = find_held(node, who);

    if (member != NULL && !member->is_seconded) {
        member->is_refused = true;
        if (!ov_witness_ask(node, member, address, out))
            second(node, member);
        return;
    }
    if (address != NULL)
        ov_out_put(out, address);
}

int ov_hold_on_seen(struct ov_node *node, struct ov_item *item)
{
    struct ov_member *member;
    bool is_refused;
    uint64_t attach;
    uint32_t who;

    if (ov_seen_decode(item, &who, &attach, &is_refused))
        return OV_EPROTO;
    member = is_refused ? find_held(node, who) : NULL;
    if (member != NULL && member->is_refused && member->attach == attach)
        second(node, member);
    return 0;
}

void ov_hold_on_refused(struct ov_node *node, uint32_t who,
                        struct ov_buf *address, struct ov_out *out)
{
    on_member_refused(node, who);
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        if (place->kind != OV_PLACE_HOLD_UNCLEAR || place->child != who)
            continue;
        place->kind = OV_PLACE_HOLD_REFUSED;
        ask_soon(node, place);
    }
    ask_witness(node, who, address, out);
}

/* True while the hold is younger than the adoption time. Until then the parent
 * is asked only about members that are known to be gone, because this node and
 * a second witness were refused. */
static bool is_early(const struct ov_node *node, const struct ov_place *place)
{
    return node->now_ns < place->since_ns + node->cfg->times.adoption_ns;
}

static bool is_held(const struct ov_node *node, const struct ov_place *place,
                    const struct ov_member *member)
{
    return member->node != TOPO_NONE && member->state == OV_MEMBER_CONFIRMED &&
           member->place == ov_place_index(node, place);
}

/* True when the parent must be asked about this member. A member that is
 * claimed by a waiting ask is left out, because the answer to that ask says
 * where the member is. */
static bool is_asked_about(const struct ov_node *node,
                           const struct ov_place *place,
                           const struct ov_member *member)
{
    return is_held(node, place, member) && member->asks == 0 &&
           (!is_early(node, place) || member->is_seconded);
}

/* True when this member should be dialled. When a child is gone, nodes beneath
 * it may be gone, too; these are dialled when their address is known. A member
 * that refuses only us so far is dialled again, and then a witness is asked
 * again. */
static bool is_probed(const struct ov_node *node, const struct ov_place *place,
                      const struct ov_member *member)
{
    return is_held(node, place, member) && member->asks == 0 &&
           !member->is_seconded &&
           (member->node == place->child ? member->is_refused
                                         : member->is_addressed);
}

/* True when the lost child itself is among the members of the hold. */
static bool holds_child(const struct ov_node *node,
                        const struct ov_place *place)
{
    const struct ov_member *member =
        ov_members_find(&node->tree.members, place->child);

    return member != NULL && is_held(node, place, member);
}

/* The time after which a hold with a dead child is looked at again: short when
 * there is a member to ask about, longer when there is only one to dial. */
static uint64_t pause_ns(const struct ov_node *node,
                         const struct ov_place *place)
{
    const struct ov_members *members = &node->tree.members;
    const struct ov_times *t = &node->cfg->times;
    uint64_t ns = OV_NEVER;

    if (holds_child(node, place))
        return ov_times_ask_again_ns(t);
    for (uint32_t i = 0; i <= members->mask; i++) {
        const struct ov_member *member = &members->table[i];

        if (is_held(node, place, member) && member->is_refused)
            return ov_times_ask_again_ns(t);
        if (is_probed(node, place, member))
            ns = t->attempt_ns;
    }
    return ns;
}

static uint64_t after(uint64_t now_ns, uint64_t ns)
{
    return ns == OV_NEVER ? OV_NEVER : now_ns + ns;
}

/* Sets the time at which the hold is looked at again, because questions and
 * probes may get lost. */
static void set_next(struct ov_node *node, struct ov_place *place)
{
    const struct ov_times *t = &node->cfg->times;
    uint64_t all_ns = place->since_ns + t->adoption_ns;

    if (node->now_ns >= all_ns)
        place->question_ns = node->now_ns + t->heartbeat_ns;
    else if (place->kind == OV_PLACE_HOLD_REFUSED)
        place->question_ns = after(node->now_ns, pause_ns(node, place));
    else if (holds_child(node, place))
        place->question_ns = node->now_ns + t->attempt_ns;
    else
        place->question_ns = all_ns;
    if (node->now_ns < all_ns && all_ns < place->question_ns)
        place->question_ns = all_ns;
}

/* --- what the root decides */

static void declare(struct ov_node *node, struct ov_member *member,
                    struct ov_out *out)
{
    if (!member->is_known) { /* root: the streams no longer wait for this
                                node */
        member->is_known = true;
        node->tree.joined++;
    }
    ov_settle_remove(node, member, OV_MEMBER_LOST);
    ov_out_act(out, OV_ACT_LOST)->node = member->node;
}

/* Declares lost all members of a hold that the root would be asked about. False
 * when `out` had no room for all. */
static bool judge_hold(struct ov_node *node, struct ov_place *place,
                       struct ov_out *out)
{
    struct ov_members *members = &node->tree.members;

    for (uint32_t i = 0; i <= members->mask; i++) {
        struct ov_member *member = &members->table[i];

        if (!is_asked_about(node, place, member))
            continue;
        if (!ov_out_has_room(out))
            return false;
        declare(node, member, out);
    }
    return true;
}

/* Removes the oldest question that still matters, and copies it to *ref. A
 * question does not matter when the member's attach number has changed since it
 * was asked: the member has dialled, so it is alive. */
static bool next_missing(struct ov_node *node, struct ov_member_ref *ref)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_cell *cell;

    while ((cell = ov_cells_pop(claims, &node->tree.claims->missing)) != NULL) {
        struct ov_member *member =
            ov_members_find(&node->tree.members, cell->node);

        *ref = (struct ov_member_ref){cell->node, 0, cell->attach};
        ov_cell_free(claims, cell);
        member->is_missing = false;
        if (member->state == OV_MEMBER_CONFIRMED && member->asks == 0 &&
            member->attach == ref->attach)
            return true;
    }
    return false;
}

/* Declares lost the members about which nodes below have asked. False when
 * `out` had no room for all. */
static bool judge_missing(struct ov_node *node, struct ov_out *out)
{
    struct ov_member_ref ref;

    for (;;) {
        if (!ov_out_has_room(out))
            return false;
        if (!next_missing(node, &ref))
            return true;
        declare(node, ov_members_find(&node->tree.members, ref.node), out);
    }
}

/* Gives up the nodes that have never joined, so that the streams begin without
 * them. False when `out` had no room for all. */
static bool judge_absent(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    for (uint32_t n = 1; n < tree->plan->nodes; n++) {
        struct ov_member *member = ov_members_add(&tree->members, n);

        if (member->is_known || member->asks > 0)
            continue;
        if (!ov_out_has_room(out))
            return false;
        declare(node, member, out);
    }
    return true;
}

static bool judge_all(struct ov_node *node, struct ov_out *out)
{
    struct ov_root *root = node->root;

    if (!judge_missing(node, out))
        return false;
    if (node->now_ns < root->absent_ns)
        return true;
    if (node->tree.joined + 1 >= node->tree.plan->nodes) {
        root->absent_ns = OV_NEVER;
        return true;
    }
    root->absent_ns = node->now_ns + node->cfg->times.heartbeat_ns;
    if (judge_absent(node, out))
        return true;
    root->absent_ns = node->now_ns;
    return false;
}

/* --- what happens as time passes */

/* Makes the driver dial members beneath a dead child. False when `out` had no
 * room for all. */
static bool probe_members(struct ov_node *node, struct ov_place *place,
                          struct ov_out *out)
{
    struct ov_members *members = &node->tree.members;

    for (; place->probe_at <= members->mask; place->probe_at++) {
        const struct ov_member *member = &members->table[place->probe_at];

        if (!is_probed(node, place, member))
            continue;
        if (!ov_out_has_room(out))
            return false;
        ov_out_act(out, OV_ACT_PROBE)->node = member->node;
    }
    place->probe_at = 0;
    return true;
}

static bool on_hold_due(struct ov_node *node, struct ov_place *place,
                        struct ov_out *out)
{
    if (is_early(node, place) && place->kind != OV_PLACE_HOLD_REFUSED) {
        if (!ov_out_has_room(out))
            return false;
        if (holds_child(node, place))
            ov_out_act(out, OV_ACT_PROBE)->node = place->child;
    } else if (ov_node_is_root(node)) {
        if (!judge_hold(node, place, out))
            return false;
    } else {
        place->is_question_due = true;
        ov_node_serve_parent(node);
    }
    if (place->kind == OV_PLACE_HOLD_REFUSED && is_early(node, place) &&
        !probe_members(node, place, out))
        return false;
    if (place->kind > OV_PLACE_LINK)
        set_next(node, place);
    return true;
}

static void on_holds_due(struct ov_node *node, struct ov_out *out)
{
    struct ov_tree *tree = &node->tree;

    tree->claims->hold_ns = OV_NEVER;
    for (unsigned i = 0; i < tree->places_used; i++) {
        struct ov_place *place = &tree->places[i];

        if (place->kind <= OV_PLACE_LINK)
            continue;
        if (node->now_ns >= place->question_ns &&
            !on_hold_due(node, place, out))
            out->more = true;
        if (place->kind > OV_PLACE_LINK)
            wake_at(node, place);
    }
}

void ov_hold_on_time(struct ov_node *node, struct ov_out *out)
{
    const struct ov_claims *claims = node->tree.claims;

    if (claims == NULL)
        return;
    if (node->now_ns >= claims->hold_ns)
        on_holds_due(node, out);
    if (ov_node_is_root(node)) {
        if (!judge_all(node, out))
            out->more = true;
        ov_out_wake(out, node->root->absent_ns);
    }
    ov_out_wake(out, claims->hold_ns);
}

/* --- questions from children */

bool ov_hold_question(struct ov_node *node, struct ov_member_ref *ref)
{
    struct ov_tree *tree = &node->tree;
    const struct ov_members *members = &tree->members;

    if (tree->claims == NULL)
        return false;
    if (next_missing(node, ref))
        return true;
    for (; tree->claims->scan_place < tree->places_used;
         tree->claims->scan_place++) {
        struct ov_place *place = &tree->places[tree->claims->scan_place];

        if (place->is_question_due && place->kind <= OV_PLACE_LINK)
            place->is_question_due = false;
        while (place->is_question_due &&
               tree->claims->scan_at <= members->mask) {
            const struct ov_member *member =
                &members->table[tree->claims->scan_at++];

            if (!is_asked_about(node, place, member))
                continue;
            *ref = (struct ov_member_ref){member->node, member->parent,
                                          member->attach};
            return true;
        }
        place->is_question_due = false;
        tree->claims->scan_at = 0;
    }
    tree->claims->scan_place = 0;
    return false;
}

static void say_left(struct ov_node *node, struct ov_place *place, uint32_t who)
{
    if (place->kind == OV_PLACE_LINK)
        ov_place_say(node, place,
                     &(struct ov_word){.kind = OV_ITEM_LEFT, .node = who},
                     NULL);
}

/* Keeps a question about a member, to be sent to the parent. When there is no
 * room it is dropped, and the holder asks again. */
static void keep(struct ov_node *node, struct ov_member *member)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_cell *cell = member->is_missing ? NULL : ov_cell_new(claims);

    if (cell == NULL)
        return;
    member->is_missing = true;
    cell->node = member->node;
    cell->attach = member->attach;
    ov_cells_push(claims, &node->tree.claims->missing, cell);
    ov_node_serve_parent(node);
}

int ov_hold_on_missing(struct ov_node *node, uint16_t link,
                       struct ov_item *item)
{
    uint16_t index = node->links[link].place;
    struct ov_tree *tree = &node->tree;
    uint16_t count;

    if (ov_missing_decode(item, &count) || index == OV_NO_PLACE ||
        node->links[link].state != OV_LINK_UP)
        return OV_EPROTO;
    for (; count > 0; count--) {
        uint32_t who = ov_rd_u32(&item->body);
        uint64_t attach = ov_rd_u64(&item->body);
        struct ov_member *member = ov_members_find(&tree->members, who);

        if (member != NULL && member->asks > 0)
            continue; /* the answer to that ask tells where the member is */
        /* When the member's attach number is later than that of the question,
         * an answer is on its way to the node that asked. */
        if (member == NULL || member->state != OV_MEMBER_CONFIRMED ||
            member->place != index)
            say_left(node, &tree->places[index], who);
        else if (member->attach == attach)
            keep(node, member);
    }
    return 0;
}

int ov_hold_on_left(struct ov_node *node, struct ov_item *item)
{
    bool is_lost = (item->flags & OV_ITEM_FINAL) != 0;
    struct ov_tree *tree = &node->tree;
    uint16_t count;

    if (ov_numbers_decode(item, &count))
        return OV_EPROTO;
    for (; count > 0; count--) {
        uint32_t who = ov_rd_u32(&item->body);
        struct ov_member *member;

        if (who <= tree->self || who >= tree->plan->nodes ||
            !topo_tree_contains(tree->plan, tree->self, who))
            return OV_EPROTO;
        /* Members that are not in the table yet are added: they may still say
         * hello. */
        member = ov_members_add(&tree->members, who);
        OV_ASSERT(member != NULL); /* the table has room for the whole planned
                                      subtree */
        ov_settle_remove(node, member,
                         is_lost ? OV_MEMBER_LOST : OV_MEMBER_ABSENT);
    }
    return 0;
}
