/* Items of LINK frames: what two neighbours tell each other.
 *
 *      0      1       2          4
 *     +------+-------+----------+------
 *     | kind | flags | body len | body
 *     +------+-------+----------+------
 *
 * Bodies, with the bytes of each field (n entries fill the rest of the body):
 *
 *     LIMIT    limit 8: frames that the child may send in total; flag FINAL: it
 *              must ask for each further frame (WANT)
 *     BASE     stream 4, base 8, and who holds the base back: node 4, rank 4
 *     ACK      source 4, accepted 8, taken 8
 *     HELLO    node 4, attach 8, members 2, cursors 2, then that many of each
 *     ASK      as HELLO: a claim on its way to the root
 *                 member: node 4, attach 8, parent 4
 *                 cursor: stream 4, base 8, head 8
 *     ANSWER   node 4, attach 8, reason 4 (0: granted), n * stripped node 4
 *     WELCOME  attach 8, n * stripped node 4
 *     REFUSE   attach 8, reason 4
 *     PATH     n * ancestor 4, the parent first, the root last
 *     LEFT     n * node 4; flag FINAL: the root has declared them lost
 *     MISSING  n * (node 4, attach 8): asks about members of a hold
 *     PAUSE    paused 4: 1 the parent may be silent from now on, which is no
 *              loss; 0 the pause is over
 *     ASKED    attach 8: the parent has asked its own parent about the hello
 *     WANT     empty: a surplus child asks to be lent a frame
 *     ADDRESS  node 4, and where it listens, in the drivers' encoding
 *     LOOK     node 4, attach 8, and where it listens: asks to dial the node
 *     SEEN     node 4, attach 8, refused 4: 1 when the dial was refused, or 0
 *
 * HELLO, ASK, ANSWER, WELCOME, PATH, LEFT and MISSING can be split: flag MORE
 * says that the next item of the kind continues this one. A LINK frame without
 * items is a heartbeat.
 */
#ifndef OVERLAY_WIRE_ITEM_H
#define OVERLAY_WIRE_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum ov_item_kind {
    OV_ITEM_LIMIT = 1,
    OV_ITEM_BASE,
    OV_ITEM_ACK,
    OV_ITEM_HELLO,
    OV_ITEM_ASK,
    OV_ITEM_ANSWER,
    OV_ITEM_WELCOME,
    OV_ITEM_REFUSE,
    OV_ITEM_PATH,
    OV_ITEM_LEFT,
    OV_ITEM_MISSING,
    OV_ITEM_PAUSE,
    OV_ITEM_ASKED,
    OV_ITEM_ADDRESS,
    OV_ITEM_WANT,
    OV_ITEM_LOOK,
    OV_ITEM_SEEN,
    OV_ITEM_KINDS
};

enum ov_item_flag { OV_ITEM_MORE = 1, OV_ITEM_FINAL = 2, OV_ITEM_FLAGS = 3 };

enum ov_refuse_reason {
    OV_GRANTED = 0,
    OV_REFUSE_LOST,       /* the root has declared the claiming node lost */
    OV_REFUSE_UNATTACHED, /* the node asked has no parent itself */
    OV_REFUSE_SERVE,      /* frames that the claim needs are no longer kept */
    OV_REFUSE_FULL,       /* the node asked can take no further child */
    OV_REFUSE_NUMBER,     /* the node asked is no planned ancestor */
    OV_REFUSE_STALE,      /* a newer attach number is known */
    OV_REFUSE_REASONS
};

enum {
    OV_ITEM_HEAD_BYTES = 4,
    OV_LIMIT_BYTES = 8,
    OV_BASE_BYTES = 20,
    OV_ACK_BYTES = 20,
    OV_CLAIM_BYTES = 16,
    OV_MEMBER_BYTES = 16,
    OV_CURSOR_BYTES = 20,
    OV_ANSWER_BYTES = 16,
    OV_WELCOME_BYTES = 8,
    OV_REFUSE_BYTES = 12,
    OV_NUMBER_BYTES = 4,
    OV_MISSING_BYTES = 12,
    OV_PAUSE_BYTES = 4,
    OV_ASKED_BYTES = 8,
    OV_ADDRESS_BYTES = 4,
    OV_LOOK_BYTES = 12,
    OV_SEEN_BYTES = 16,
};

struct ov_item {
    uint8_t kind, flags;
    struct ov_rd body; /* borrowed from the frame */
};

struct ov_base {
    uint32_t stream;
    uint32_t node; /* the node that holds the base back, or TOPO_NONE */
    uint32_t rank;
    uint64_t base;
};

struct ov_ack {
    uint32_t source;
    uint64_t accepted, taken;
};

/* The head of a HELLO or ASK: the node that asks to be adopted. */
struct ov_claim {
    uint32_t node;
    uint64_t attach;
    uint16_t members; /* how many members and how many cursors follow */
    uint16_t cursors;
};

struct ov_member_ref {
    uint32_t node;
    uint32_t parent;
    uint64_t attach;
};

struct ov_cursor {
    uint32_t stream;
    uint64_t base, head;
};

struct ov_answer {
    uint32_t node, reason; /* enum ov_refuse_reason */
    uint64_t attach;
};

/* Starts an item; the body of exactly body_bytes follows. */
void ov_item_begin(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                   uint16_t body_bytes);

/* Reads the next item of a LINK frame's body. Returns 0, or OV_EPROTO for an
 * unknown kind or flag or a body that reaches past the end. */
int ov_item_next(struct ov_rd *rd, struct ov_item *item);

void ov_limit_encode(struct ov_wr *wr, uint8_t flags, uint64_t limit);
int ov_limit_decode(struct ov_item *item, uint64_t *limit);
void ov_base_encode(struct ov_wr *wr, const struct ov_base *base);
int ov_base_decode(struct ov_item *item, struct ov_base *base);
void ov_ack_encode(struct ov_wr *wr, const struct ov_ack *ack);
int ov_ack_decode(struct ov_item *item, struct ov_ack *ack);
/* Writes the head of a HELLO or ASK; the next two functions write its lists. */
void ov_claim_encode(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                     const struct ov_claim *claim);
void ov_member_encode(struct ov_wr *wr, const struct ov_member_ref *member);
void ov_cursor_encode(struct ov_wr *wr, const struct ov_cursor *cursor);
/* Checks that the lists fill the body exactly. Then members are read first, and
 * cursors after them, one by each call. */
int ov_claim_decode(struct ov_item *item, struct ov_claim *claim);
struct ov_member_ref ov_member_decode(struct ov_item *item);
struct ov_cursor ov_cursor_decode(struct ov_item *item);
/* `numbers` node numbers must follow, written by ov_wr_u32 and read by
 * ov_rd_u32 until the body ends. */
void ov_answer_encode(struct ov_wr *wr, uint8_t flags,
                      const struct ov_answer *answer, uint16_t numbers);
int ov_answer_decode(struct ov_item *item, struct ov_answer *answer);
void ov_welcome_encode(struct ov_wr *wr, uint8_t flags, uint64_t attach,
                       uint16_t numbers);
int ov_welcome_decode(struct ov_item *item, uint64_t *attach);
void ov_refuse_encode(struct ov_wr *wr, uint64_t attach, uint32_t reason);
int ov_refuse_decode(struct ov_item *item, uint64_t *attach, uint32_t *reason);
/* For PATH and LEFT: `numbers` node numbers must follow. */
void ov_numbers_encode(struct ov_wr *wr, enum ov_item_kind kind, uint8_t flags,
                       uint16_t numbers);
int ov_numbers_decode(struct ov_item *item, uint16_t *numbers);
/* For MISSING: `members` pairs of node (u32) and attach (u64) must follow. */
void ov_missing_encode(struct ov_wr *wr, uint8_t flags, uint16_t members);
int ov_missing_decode(struct ov_item *item, uint16_t *members);
void ov_asked_encode(struct ov_wr *wr, uint64_t attach);
int ov_asked_decode(struct ov_item *item, uint64_t *attach);
/* len_bytes bytes of the address must follow, at most OV_ADDRESS_MAX. After
 * decoding they are the rest of the body. */
void ov_address_encode(struct ov_wr *wr, uint32_t node, uint16_t len_bytes);
int ov_address_decode(struct ov_item *item, uint32_t *node);
/* The address must follow, or is the rest of the body, as with ADDRESS. */
void ov_look_encode(struct ov_wr *wr, uint32_t node, uint64_t attach,
                    uint16_t len_bytes);
int ov_look_decode(struct ov_item *item, uint32_t *node, uint64_t *attach);
void ov_seen_encode(struct ov_wr *wr, uint32_t node, uint64_t attach,
                    bool is_refused);
int ov_seen_decode(struct ov_item *item, uint32_t *node, uint64_t *attach,
                   bool *is_refused);
void ov_want_encode(struct ov_wr *wr);
int ov_want_decode(struct ov_item *item);
void ov_pause_encode(struct ov_wr *wr, bool is_paused);
int ov_pause_decode(struct ov_item *item, bool *is_paused);

#endif
