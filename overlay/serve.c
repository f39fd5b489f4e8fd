/* Writing LINK frames and choosing what a link sends next. */
#include "overlay/serve.h"

#include "overlay/down.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/up.h"

/* A LINK frame stays small: it is held in a buffer like any other, but only
 * its first page is ever touched. */
enum { LINK_FRAME_BYTES = 4096 };

struct words {
    struct ov_wr wr;
    uint16_t count;
};

/* Room for one more item of body_bytes? */
static bool fits(const struct words *words, uint32_t body_bytes)
{
    return (size_t)(words->wr.end - words->wr.at) >=
           OV_ITEM_HEAD_BYTES + body_bytes;
}

static void write_bases(struct ov_node *node, struct words *words)
{
    struct ov_base base;

    while (fits(words, OV_BASE_BYTES) && ov_down_report(node, &base)) {
        ov_base_encode(&words->wr, &base);
        words->count++;
    }
}

static void write_asks(struct ov_node *node, struct words *words)
{
    struct ov_tree *tree = &node->tree;
    struct ov_member *member;

    while (fits(words, OV_CLAIM_BYTES + OV_MEMBER_BYTES) &&
           (member = ov_members_pop(&tree->members, &tree->asks, true))) {
        struct ov_claim claim = {member->node, member->attach, 1, 0};
        struct ov_member_ref ref = {member->node, member->parent,
                                    member->attach};

        member->due &= (uint8_t)~OV_DUE_ASK;
        if (member->state != OV_MEMBER_TENTATIVE)
            continue; /* forgotten meanwhile */
        ov_claim_encode(&words->wr, OV_ITEM_ASK, 0, &claim);
        ov_member_encode(&words->wr, &ref);
        words->count++;
    }
}

/* To the parent. Hello, asks and bases keep this order. */
static void write_up(struct ov_node *node, struct words *words)
{
    struct ov_tree *tree = &node->tree;

    if (tree->is_hello_due) {
        struct ov_claim claim = {.node = tree->self, .attach = tree->attach};

        tree->is_hello_due = false;
        ov_claim_encode(&words->wr, OV_ITEM_HELLO, 0, &claim);
        words->count++;
    }
    if (tree->is_attached) {
        write_asks(node, words);
        write_bases(node, words);
    }
}

static void write_welcome(const struct ov_node *node, struct ov_place *place,
                          struct words *words)
{
    const struct ov_tree *tree = &node->tree;
    uint16_t numbers = (uint16_t)(tree->ancestors_count + 1);

    /* The nearest and the root: a chain has more than a frame can name. */
    if (numbers > OV_ANCESTORS_MAX)
        numbers = OV_ANCESTORS_MAX;
    place->is_welcome_due = false;
    ov_welcome_encode(&words->wr, 0, place->attach, 0);
    ov_numbers_encode(&words->wr, OV_ITEM_PATH, 0, numbers);
    ov_wr_u32(&words->wr, tree->self);
    for (unsigned i = 0; i + 1 < numbers; i++)
        ov_wr_u32(&words->wr, i + 2 < numbers ? tree->ancestors[i] : 0);
    words->count = (uint16_t)(words->count + 2);
}

static void write_member(struct ov_member *member, struct words *words)
{
    if (member->due & OV_DUE_ANSWER) {
        struct ov_answer answer = {member->node, member->reason,
                                   member->attach};

        ov_answer_encode(&words->wr, 0, &answer, 0);
        words->count++;
    }
    if (member->due & OV_DUE_ACK) {
        struct ov_ack ack = {member->node, member->accepted, member->taken};

        ov_ack_encode(&words->wr, &ack);
        words->count++;
    }
    member->due &= (uint8_t) ~(OV_DUE_ANSWER | OV_DUE_ACK);
}

/* To a child. The welcome comes before all else. */
static void write_down(struct ov_node *node, struct ov_place *place,
                       struct words *words)
{
    struct ov_link *link = &node->links[place->link];
    struct ov_member *member;

    if (place->is_welcome_due)
        write_welcome(node, place, words);
    if (link->state != OV_LINK_UP)
        return;
    if (link->is_pause_due) {
        link->is_pause_due = false;
        ov_pause_encode(&words->wr, link->is_pausing);
        words->count++;
    }
    if (place->is_limit_due) {
        place->is_limit_due = false;
        ov_limit_encode(&words->wr, place->limit);
        words->count++;
    }
    while (fits(words, OV_ANSWER_BYTES + OV_ITEM_HEAD_BYTES + OV_ACK_BYTES) &&
           (member = ov_members_pop(&node->tree.members, &place->due, false)))
        write_member(member, words);
}

/* One LINK frame with what is due. Returns true when one was sent. */
static bool send_words(struct ov_node *node, uint16_t index, bool beat,
                       struct ov_out *out)
{
    struct ov_link *link = &node->links[index];
    struct words words = {.wr = ov_out_head(out)};
    struct ov_wr start;
    struct ov_act *act;

    if (!ov_link_can_send(link, node->cfg, false) || !ov_out_has_room(out))
        return false;
    words.wr.end = words.wr.at + LINK_FRAME_BYTES;
    start = words.wr;
    ov_wr_room(&words.wr, OV_FRAME_HEAD_BYTES);
    if (index == node->tree.parent) {
        write_up(node, &words);
    } else if (link->refuse != 0) {
        ov_refuse_encode(&words.wr, link->attach, link->refuse);
        words.count++;
    } else if (link->place != OV_NO_PLACE) {
        write_down(node, &node->tree.places[link->place], &words);
    }
    if (words.count == 0 && !beat)
        return false;
    act = ov_out_act(out, OV_ACT_SEND);
    act->link = index;
    ov_frame_head_encode(
        &start,
        &(struct ov_frame_head){
            .type = OV_FRAME_LINK,
            .tree = node->tree.number,
            .count = words.count,
            .len_bytes = (uint32_t)(words.wr.at - out->head) - act->head_first,
        });
    ov_out_head_done(out, act, &words.wr);
    ov_link_on_send(link, false, node->now_ns);
    return words.count > 0 && link->refuse == 0;
}

void ov_serve_link(struct ov_node *node, uint16_t index, bool beat,
                   struct ov_out *out)
{
    struct ov_link *link = &node->links[index];

    if (link->state == OV_LINK_FREE)
        return;
    while (send_words(node, index, beat, out))
        beat = false;
    if (link->refuse != 0) {
        ov_loss_close(node, index, OV_PLACE_HOLD_UNCLEAR, out);
        return;
    }
    if (link->state != OV_LINK_UP)
        return;
    if (index == node->tree.parent)
        ov_up_send(node, out);
    else
        ov_down_send(node, &node->tree.places[link->place], out);
}
