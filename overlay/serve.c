/* Writes LINK frames, and chooses what is sent next on a link. */
#include "overlay/serve.h"

#include "overlay/down.h"
#include "overlay/hold.h"
#include "overlay/loss.h"
#include "overlay/place.h"
#include "overlay/up.h"
#include "overlay/witness.h"

/* LINK frames are small: a received one occupies a buffer of the largest size,
 * but only the first page of the buffer is touched. */
enum {
    LINK_FRAME_BYTES = 4096,
    ADDRESS_ROOM = OV_ITEM_HEAD_BYTES + OV_ADDRESS_BYTES + OV_ADDRESS_MAX
};

struct words {
    struct ov_wr wr;
    uint16_t count;
};

/* True when the frame has room for one more item with body_bytes. */
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

static bool fits_list(const struct words *words, uint32_t head_bytes)
{
    return fits(words, head_bytes + OV_MEMBER_BYTES);
}

/* How many entries of a list fit into the frame after the head of the item. */
static uint16_t room_for(const struct words *words, uint32_t head_bytes,
                         uint32_t each_bytes)
{
    size_t left = (size_t)(words->wr.end - words->wr.at);

    OV_ASSERT(fits(words, head_bytes));
    return (uint16_t)((left - OV_ITEM_HEAD_BYTES - head_bytes) / each_bytes);
}

/* --- claims: each is the head, the members and the cursors, split into as many
 * items as needed; the cursors are in the first */

struct part {
    struct ov_claim claim;
    struct ov_cursor cursor[OV_STREAMS_MAX];
    struct ov_wr at; /* where the item's head goes, which is written when its
                        length is known */
    uint16_t room;   /* how many members fit into the item */
};

static void part_begin(struct ov_node *node, struct words *words,
                       struct part *part, bool is_first)
{
    uint32_t cursors = 0;

    for (unsigned i = 0; is_first && i < node->cfg->streams_max; i++) {
        if (ov_down_cursor(node, i, &part->cursor[cursors]))
            cursors++;
    }
    part->claim.cursors = (uint16_t)cursors;
    part->claim.members = 0;
    part->room = room_for(words, OV_CLAIM_BYTES + cursors * OV_CURSOR_BYTES,
                          OV_MEMBER_BYTES);
    part->at = words->wr;
    ov_wr_room(&words->wr, OV_ITEM_HEAD_BYTES + OV_CLAIM_BYTES);
}

static bool part_add(struct words *words, struct part *part,
                     const struct ov_member_ref *ref)
{
    if (part->claim.members == part->room)
        return false;
    ov_member_encode(&words->wr, ref);
    part->claim.members++;
    return true;
}

static void part_end(struct words *words, struct part *part,
                     enum ov_item_kind kind, bool has_more)
{
    for (unsigned i = 0; i < part->claim.cursors; i++)
        ov_cursor_encode(&words->wr, &part->cursor[i]);
    ov_claim_encode(&part->at, kind, has_more ? OV_ITEM_MORE : 0, &part->claim);
    words->count++;
}

static bool part_fits(const struct words *words)
{
    return fits(words, OV_CLAIM_BYTES + 2 * OV_MEMBER_BYTES +
                           OV_STREAMS_MAX * OV_CURSOR_BYTES);
}

static void write_address(struct words *words, uint32_t who, const uint8_t *mem,
                          uint32_t len_bytes)
{
    ov_address_encode(&words->wr, who, (uint16_t)len_bytes);
    ov_wr_bytes(&words->wr, mem, len_bytes);
    words->count++;
}

/* Writes ADDRESS items, which tell our parent where our children listen, so
 * that it can probe them when we are gone. */
static void write_addresses(struct ov_node *node, struct words *words)
{
    struct ov_tree *tree = &node->tree;

    for (unsigned i = 0;
         i < tree->places_used && tree->claims->addresses_due > 0; i++) {
        struct ov_place *place = &tree->places[i];

        if (!place->is_address_due)
            continue;
        if (!fits(words, OV_ADDRESS_BYTES + place->address_bytes))
            return;
        place->is_address_due = false;
        tree->claims->addresses_due--;
        write_address(words, place->child, place->address,
                      place->address_bytes);
    }
}

/* Writes the hello, or its next part: the members beneath us, from entry
 * hello_at of the member table on. */
static void write_hello(struct ov_node *node, struct words *words)
{
    struct ov_tree *tree = &node->tree;
    const struct ov_members *members = &tree->members;
    struct part part = {.claim = {.node = tree->self, .attach = tree->attach}};
    bool is_first = tree->hello_at == 0;
    const struct ov_buf *address = is_first ? node->address : NULL;
    uint32_t end = members->room > 0 ? members->mask + 1 : 0;

    if (address != NULL) /* leave room in the frame for our address, which
                            follows the hello */
        words->wr.end -= ADDRESS_ROOM;
    part_begin(node, words, &part, is_first);
    for (; tree->hello_at < end; tree->hello_at++) {
        const struct ov_member *member = &members->table[tree->hello_at];
        struct ov_member_ref ref = {member->node, member->parent,
                                    member->attach};

        if (member->node != TOPO_NONE && member->state == OV_MEMBER_CONFIRMED &&
            !part_add(words, &part, &ref))
            break;
    }
    tree->is_hello_due = tree->hello_at < end;
    part_end(words, &part, OV_ITEM_HELLO, tree->is_hello_due);
    if (address != NULL) {
        words->wr.end += ADDRESS_ROOM;
        write_address(words, tree->self, address->mem, address->len_bytes);
    }
}

/* Writes the first ask that is due, or its next part. */
static void write_ask(struct ov_node *node, struct words *words)
{
    struct ov_claims *claims = node->tree.claims;
    struct ov_ask *ask = &claims->asks[claims->due_first];
    struct ov_member_ref ref = {ask->node, ask->parent, ask->attach};
    struct part part = {.claim = {.node = ask->node, .attach = ask->attach}};
    bool is_first = claims->written == OV_NONE;
    uint32_t at = is_first ? ask->claimed.first : claims->written;

    part_begin(node, words, &part, is_first);
    if (is_first)
        part_add(words, &part, &ref);
    for (; at != OV_NONE; at = claims->cells[at].next) {
        const struct ov_cell *cell = &claims->cells[at];

        ref = (struct ov_member_ref){cell->node, cell->parent, cell->attach};
        if (!part_add(words, &part, &ref))
            break;
    }
    part_end(words, &part, OV_ITEM_ASK, at != OV_NONE);
    if (at == OV_NONE)
        ov_ask_not_due(claims, ask);
    claims->written = at;
}

/* Writes MISSING, which asks the parent about members of holds. */
static void write_questions(struct ov_node *node, struct words *words)
{
    struct ov_wr start = words->wr;
    struct ov_member_ref ref;
    uint16_t room, count = 0;

    if (!fits_list(words, 0))
        return;
    room = room_for(words, 0, OV_MISSING_BYTES);
    ov_wr_room(&words->wr, OV_ITEM_HEAD_BYTES);
    while (count < room && ov_hold_question(node, &ref)) {
        ov_wr_u32(&words->wr, ref.node);
        ov_wr_u64(&words->wr, ref.attach);
        count++;
    }
    if (count == 0) {
        words->wr = start;
        return;
    }
    ov_missing_encode(&start, 0, count);
    words->count++;
}

static bool has_asks(const struct ov_tree *tree)
{
    return tree->claims != NULL && tree->claims->due_first != OV_NONE;
}

static void write_want(struct ov_node *node, struct words *words)
{
    if (!node->is_want_due || !fits(words, 0))
        return;
    node->is_want_due = false;
    ov_want_encode(&words->wr);
    words->count++;
}

/* Writes items for the parent. Hello, asks and bases must keep this order. */
static void write_up(struct ov_node *node, struct words *words)
{
    struct ov_tree *tree = &node->tree;

    if (tree->is_hello_due)
        write_hello(node, words);
    if (!tree->is_attached)
        return;
    while (has_asks(tree) && part_fits(words))
        write_ask(node, words);
    /* As long as an ask is not written completely no base is sent: a base may
     * have fallen because of the node that the ask is about. */
    if (has_asks(tree))
        return;
    write_want(node, words);
    write_bases(node, words);
    write_questions(node, words);
    write_addresses(node, words);
}

/* --- to a child */

static void write_path(const struct ov_node *node, struct ov_place *place,
                       struct words *words)
{
    const struct ov_tree *tree = &node->tree;
    uint16_t numbers = (uint16_t)(tree->ancestors_count + 1);

    /* A chain may have more ancestors than fit in a frame: the nearest ones are
     * sent, and the root. */
    if (numbers > OV_ANCESTORS_MAX)
        numbers = OV_ANCESTORS_MAX;
    if (!fits(words, (uint32_t)numbers * OV_NUMBER_BYTES))
        return;
    place->is_path_due = false;
    ov_numbers_encode(&words->wr, OV_ITEM_PATH, 0, numbers);
    ov_wr_u32(&words->wr, tree->self);
    for (unsigned i = 0; i + 1 < numbers; i++)
        ov_wr_u32(&words->wr, i + 2 < numbers ? tree->ancestors[i] : 0);
    words->count++;
}

static uint32_t list_length(const struct ov_claims *claims, uint32_t at,
                            uint16_t most)
{
    uint32_t count = 0;

    for (; at != OV_NONE && count < most; at = claims->cells[at].next)
        count++;
    return count;
}

/* Writes an ANSWER or WELCOME with as many of its stripped nodes as fit. False
 * when some are left. */
static bool write_granted(struct ov_claims *claims, struct ov_cell *word,
                          struct words *words)
{
    bool is_welcome = word->kind == OV_ITEM_WELCOME;
    uint32_t head = is_welcome ? OV_WELCOME_BYTES : OV_ANSWER_BYTES;
    uint16_t room = room_for(words, head, OV_NUMBER_BYTES);
    uint16_t count = (uint16_t)list_length(claims, word->list, room);
    struct ov_answer answer = {word->node, word->parent, word->attach};
    struct ov_cell_list list = {word->list, OV_NONE};
    struct ov_wr start = words->wr;
    bool has_more;

    ov_wr_room(&words->wr, OV_ITEM_HEAD_BYTES + head);
    for (unsigned i = 0; i < count; i++) {
        struct ov_cell *cell = ov_cells_pop(claims, &list);

        ov_wr_u32(&words->wr, cell->node);
        ov_cell_free(claims, cell);
    }
    word->list = list.first;
    has_more = list.first != OV_NONE;
    if (is_welcome)
        ov_welcome_encode(&start, has_more ? OV_ITEM_MORE : 0, word->attach,
                          count);
    else
        ov_answer_encode(&start, has_more ? OV_ITEM_MORE : 0, &answer, count);
    words->count++;
    return !has_more;
}

static void write_words(struct ov_node *node, struct ov_place *place,
                        struct words *words)
{
    struct ov_claims *claims = node->tree.claims;

    while (place->words.first != OV_NONE &&
           fits(words, OV_ANSWER_BYTES + OV_NUMBER_BYTES)) {
        struct ov_cell *word = &claims->cells[place->words.first];

        if (word->kind == OV_ITEM_LEFT) {
            ov_numbers_encode(&words->wr, OV_ITEM_LEFT, word->flags, 1);
            ov_wr_u32(&words->wr, word->node);
            words->count++;
        } else if (!write_granted(claims, word, words)) {
            return;
        }
        ov_cell_free(claims, ov_cells_pop(claims, &place->words));
    }
}

static void write_acks(struct ov_node *node, struct ov_place *place,
                       struct words *words)
{
    struct ov_member *member;

    while (fits(words, OV_ACK_BYTES) &&
           (member = ov_place_ack_pop(node, place)) != NULL) {
        struct ov_ack ack = {member->node, member->accepted, member->taken};

        ov_ack_encode(&words->wr, &ack);
        words->count++;
    }
}

static void write_pause(struct ov_link *link, struct words *words)
{
    link->is_pause_due = false;
    ov_pause_encode(&words->wr, link->is_pausing);
    words->count++;
}

/* Writes items for a child. Only ASKED is sent before the welcome. */
static void write_down(struct ov_node *node, struct ov_place *place,
                       struct words *words)
{
    struct ov_link *link = &node->links[place->link];

    if (place->is_asked_due) {
        place->is_asked_due = false;
        ov_asked_encode(&words->wr, place->attach);
        words->count++;
    }
    if (link->state != OV_LINK_UP)
        return;
    write_words(node, place, words);
    if (place->words.first != OV_NONE)
        return;
    if (place->is_path_due)
        write_path(node, place, words);
    if (link->is_pause_due)
        write_pause(link, words);
    if (place->is_limit_due && fits(words, OV_LIMIT_BYTES)) {
        place->is_limit_due = false;
        ov_limit_encode(&words->wr, place->is_lent ? OV_ITEM_FINAL : 0,
                        place->limit);
        words->count++;
    }
    write_acks(node, place, words);
}

/* Writes LOOK and SEEN items, the questions and answers of second witnesses. */
static void write_asides(struct ov_node *node, uint16_t index,
                         struct words *words, struct ov_out *out)
{
    struct ov_aside word;

    while (fits(words, OV_SEEN_BYTES + OV_ADDRESS_MAX) &&
           ov_witness_next(node, index, &word)) {
        words->count++;
        if (word.address == NULL) {
            ov_seen_encode(&words->wr, word.node, word.attach, word.is_refused);
            continue;
        }
        ov_look_encode(&words->wr, word.node, word.attach,
                       (uint16_t)word.address->len_bytes);
        ov_wr_bytes(&words->wr, word.address->mem, word.address->len_bytes);
        ov_out_put(out, word.address);
    }
}

/* Begins a LINK frame; its head is written when its content is known. */
static struct words words_begin(struct ov_out *out, struct ov_wr *start)
{
    struct words words = {.wr = ov_out_head(out)};

    words.wr.end = words.wr.at + LINK_FRAME_BYTES;
    *start = words.wr;
    ov_wr_room(&words.wr, OV_FRAME_HEAD_BYTES);
    return words;
}

static void words_send(struct ov_node *node, uint16_t index,
                       struct words *words, struct ov_wr *start,
                       struct ov_out *out)
{
    struct ov_act *act = ov_out_act(out, OV_ACT_SEND);

    act->link = index;
    ov_frame_head_encode(
        start,
        &(struct ov_frame_head){
            .type = OV_FRAME_LINK,
            .tree = node->tree.number,
            .count = words->count,
            .len_bytes = (uint32_t)(words->wr.at - out->head) - act->head_first,
        });
    ov_out_head_done(out, act, &words->wr);
    ov_link_on_send(&node->links[index], false, node->now_ns);
}

/* Sends one LINK frame with what is due. Returns true when it was sent and more
 * items may be due. */
static bool send_words(struct ov_node *node, uint16_t index, bool beat,
                       struct ov_out *out)
{
    struct ov_link *link = &node->links[index];
    struct words words;
    struct ov_wr start;

    if (!ov_link_can_send(link, node->cfg, false) || !ov_out_has_room(out))
        return false;
    words = words_begin(out, &start);
    if (index == node->tree.parent) {
        write_up(node, &words);
    } else if (link->refuse != 0) {
        ov_refuse_encode(&words.wr, link->attach, link->refuse);
        words.count++;
    } else if (link->place != OV_NO_PLACE) {
        write_down(node, &node->tree.places[link->place], &words);
    }
    if (link->state == OV_LINK_UP && link->refuse == 0)
        write_asides(node, index, &words, out);
    if (words.count == 0 && !beat)
        return false;
    words_send(node, index, &words, &start, out);
    return words.count > 0 && link->refuse == 0;
}

void ov_serve_seen(struct ov_node *node, const struct ov_event *ev,
                   struct ov_out *out)
{
    const struct ov_link *link = &node->links[ev->link];
    struct words words;
    struct ov_wr start;

    if (link->state != OV_LINK_UP ||
        !ov_link_can_send(link, node->cfg, false) || !ov_out_has_room(out))
        return;
    words = words_begin(out, &start);
    ov_seen_encode(&words.wr, ev->node, ev->seq, ev->is_refused);
    words.count++;
    words_send(node, ev->link, &words, &start, out);
}

void ov_serve_link(struct ov_node *node, uint16_t index, bool beat,
                   struct ov_out *out)
{
    struct ov_link *link = &node->links[index];

    if (link->state == OV_LINK_FREE)
        return;
    while (send_words(node, index, beat, out))
        beat = false;
    if (link->is_ending) {
        ov_loss_close(node, index, OV_PLACE_HOLD_UNCLEAR, out);
        return;
    }
    if (link->state != OV_LINK_UP)
        return;
    if (index == node->tree.parent) {
        ov_up_send(node, out);
    } else {
        OV_ASSERT(link->place != OV_NO_PLACE);
        ov_down_send(node, &node->tree.places[link->place], out);
    }
}
