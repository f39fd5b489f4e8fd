/* One node of the core on the bench: events in, a line of text out.
 *
 *     seen(&lab, 0, START)                     "dial:0#1"
 *     seen(&lab, 0, DIALLED(0, 0))             "send:L0[hello:1#1~0=0/0]"
 *     heard(&lab, 1, 0, "welcome:#1 path:0")   ""
 *
 * Every step is at a time in milliseconds that the test names. The actions of
 * a step are words in one line:
 *
 *     dial:NODE#ATTACH  close:LINK  send:LINK[FRAME]  read:INPUT<BYTES
 *     consume:STREAM.SEQ(BYTES)  record:SOURCE.SEQ(BYTES)#COOKIE  joined
 *     probe:NODE  orphan:NODE  adopted:NODE  lost:NODE  end:WHY
 *     address:NODE(TEXT)  stall:STREAM@NODE.RANK  leave  more
 *
 * and a FRAME is written, and heard, as the words of one kind:
 *
 *     hello:NODE#ATTACH+NODE#ATTACH<PARENT~STREAM=BASE/HEAD
 *     ask:NODE#ATTACH<PARENT+NODE#ATTACH<PARENT~STREAM=BASE/HEAD
 *     asked:#ATTACH  answer:NODE#ATTACH!REASON-NODE
 *     welcome:#ATTACH-NODE  path:NODE,NODE  refuse:#ATTACH!REASON
 *     limit:FRAMES!  want:  base:STREAM=FRAMES@NODE.RANK
 * ack:SOURCE=ACCEPTED/TAKEN left:NODE,NODE!  missing:NODE#ATTACH,NODE#ATTACH
 * address:NODE=TEXT look:NODE#ATTACH=TEXT seen:NODE#ATTACH! a LINK frame; none
 * at all is a beat up:SOURCE.SEQ(BYTES),...      an UP frame; a record's flags
 * after it down:STREAM.SEQ(BYTES)        a DOWN frame; "end" and "skip" after
 * it open:STREAMwWINDOW:FIRST-LAST goodbye app    the next frames of stream 0
 *
 * A claim has any number of members (+NODE...) and cursors (~STREAM...); the
 * later parts of an ask are without <PARENT. -NODE is stripped, any number of
 * them; "!" behind left is the root's word, for ever; "..." behind a word says
 * that the next of its kind goes on with it.
 *
 * "!" behind a limit says that nothing comes unasked; up: alone has no records.
 * !REASON is left out when granted, @NODE.RANK when nobody holds up. Payload
 * bytes tell what they belong to: one that is not in its place shows as '?'.
 */
#ifndef TESTS_UNIT_LAB_H
#define TESTS_UNIT_LAB_H

#include "overlay/control.h"
#include "overlay/node.h"
#include "overlay/state.h"

enum { LAB_TEXT_BYTES = 64 * 1024, LAB_MS_NS = 1000000 };

struct lab {
    struct ov_cfg cfg;
    struct ov_node *node;
    void *mem;
    struct ov_out *out;
    struct ov_kept_pool pool;
    struct ov_kept *cells;
    uint64_t own_seq; /* number of the node's next own record */
    /* number of the next frame of stream 0 that is to arrive */
    uint64_t control_seq;
    uint64_t wake_ns;
    unsigned bufs_live;
    char text[LAB_TEXT_BYTES];
};

/* Returns a small configuration, which may be changed before lab_open(): frames
 * of 4096 bytes, windows of 4 frames (stream 0: 2), a window of 16 KiB of own
 * records. */
struct ov_cfg lab_cfg(uint32_t nodes, uint32_t arity);

/* Makes node `self` with three inputs; a failing assertion of the core fails
 * the test. lab_close() fails the test when a buffer was not given back. */
void lab_open(struct lab *lab, struct ov_cfg cfg, uint32_t self);
void lab_close(struct lab *lab);

/* Takes one step and returns its actions as text, valid until the next step. */
const char *seen(struct lab *lab, uint64_t ms, struct ov_event ev);

/* Takes a step in which a frame with these words arrives. */
const char *heard(struct lab *lab, uint64_t ms, uint16_t link,
                  const char *words);
/* lab_frame() makes the bytes of such a frame, which the caller owns and may
 * damage. heard_buf() takes a step in which the frame arrives. */
struct ov_buf *lab_frame(struct lab *lab, const char *words);
const char *heard_buf(struct lab *lab, uint64_t ms, uint16_t link,
                      struct ov_buf *buf);
struct ov_buf *lab_buf(struct lab *lab);
void lab_put(struct lab *lab, struct ov_buf *buf);

/* Answers a READ with this many bytes, and with the state of the input after
 * them. */
const char *wrote(struct lab *lab, uint64_t ms, uint16_t input,
                  uint32_t len_bytes, enum ov_input_state state);
/* Does the same as wrote(), with flags of the record. */
const char *wrote_flags(struct lab *lab, uint64_t ms, uint16_t input,
                        uint32_t len_bytes, enum ov_input_state state,
                        uint8_t flags);

/* For the root: fed() feeds a frame of a stream with this many bytes, and
 * told() feeds a control message. */
const char *fed(struct lab *lab, uint64_t ms, uint32_t stream,
                uint32_t len_bytes, uint32_t flags);
const char *told(struct lab *lab, uint64_t ms, const char *words);

/* Returns the milliseconds until the wake-up that was requested last; -1: none
 * was requested. */
int64_t lab_wake(const struct lab *lab, uint64_t ms);

#define START       ((struct ov_event){.kind = OV_EV_START})
#define TICK        ((struct ov_event){.kind = OV_EV_TIMER})
#define DIAL_FAILED ((struct ov_event){.kind = OV_EV_DIAL_FAILED})
#define DIALLED(slot, peer)                                                    \
    ((struct ov_event){.kind = OV_EV_LINK_UP,                                  \
                       .link = (slot),                                         \
                       .node = (peer),                                         \
                       .dialled = true})
#define CALLED(slot, peer)                                                     \
    ((struct ov_event){.kind = OV_EV_LINK_UP, .link = (slot), .node = (peer)})
#define ENDED(slot) ((struct ov_event){.kind = OV_EV_LINK_DOWN, .link = (slot)})
#define PROBED(peer, refused)                                                  \
    ((struct ov_event){                                                        \
        .kind = OV_EV_PROBED, .node = (peer), .is_refused = (refused)})
/* Like PROBED, for a probe that a neighbour asked for. */
#define PROBED_FOR(slot, peer, attach, refused)                                \
    ((struct ov_event){.kind = OV_EV_PROBED,                                   \
                       .link = (slot),                                         \
                       .node = (peer),                                         \
                       .seq = (attach),                                        \
                       .is_refused = (refused)})
#define SENT(slot, frames)                                                     \
    ((struct ov_event){.kind = OV_EV_SENT, .link = (slot), .count = (frames)})
#define READY(number)                                                          \
    ((struct ov_event){.kind = OV_EV_READY, .input = (number)})
#define CONSUMED(number, frames, who)                                          \
    ((struct ov_event){.kind = OV_EV_CONSUMED,                                 \
                       .stream = (number),                                     \
                       .seq = (frames),                                        \
                       .rank = (who)})
#define TAKEN(number)                                                          \
    ((struct ov_event){.kind = OV_EV_TAKEN, .cookie = (number)})

#endif
