/* Frames: the unit that links carry.
 *
 * Every frame starts with eight bytes:
 *
 *      0      1      2         4                8
 *     +------+------+---------+----------------+
 *     | type | tree | count   | len_bytes      |
 *     +------+------+---------+----------------+
 *
 * len_bytes is the length of the whole frame, with this prefix. All integers
 * are little-endian.
 *
 * LINK: `count` items follow, see overlay/wire/item.h. The frame is for the
 * neighbour alone.
 *
 * UP: a table of `count` record heads, then the payloads of the records in the
 * same order. Nothing in the frame depends on the link, so an inner node can
 * pass it on unchanged, or merge frames by concatenating their tables and their
 * payloads.
 *
 *      0        4              12       16    18   19   20       24
 *     +--------+--------------+--------+-----+----+----+--------+
 *     | source | seq          | rank   | job | ch | fl | len    |
 *     +--------+--------------+--------+-----+----+----+--------+
 *
 * SHARED: records as in UP, but equal payloads are there once; see
 * overlay/wire/shared.h.
 *
 * DOWN: one frame of a stream. Nothing in it depends on the link either: a node
 * sends the buffer that it received to every child.
 *
 *      8        12       16             24             32
 *     +--------+--------+--------------+--------------+------
 *     | stream | flags  | seq          | offset       | payload
 *     +--------+--------+--------------+--------------+------
 *
 * Streams are counted in frames (seq: 0, 1, 2 ...). A window that is counted in
 * frames limits the number of buffers and of posted receives exactly, whatever
 * the size of the writes. The frame also has the offset of its first payload
 * byte in the stream, for checks and for giving unread input back.
 */
#ifndef OVERLAY_WIRE_FRAME_H
#define OVERLAY_WIRE_FRAME_H

#include <stdint.h>

#include "overlay/base/wire.h"

enum ov_frame_type {
    OV_FRAME_LINK = 1,
    OV_FRAME_UP = 2,
    OV_FRAME_DOWN = 3,
    OV_FRAME_SHARED = 4,
};

/* True for the frames that carry records. */
static inline bool ov_frame_is_up(uint8_t type)
{
    return type == OV_FRAME_UP || type == OV_FRAME_SHARED;
}

enum {
    OV_FRAME_HEAD_BYTES = 8,
    OV_RECORD_HEAD_BYTES = 24,
    OV_DOWN_HEAD_BYTES = 24,
    OV_FRAME_BYTES_MIN = 4096,
    OV_FRAME_BYTES_MAX = 1 << 20,
};

struct ov_frame_head {
    uint8_t type;
    uint8_t tree;
    uint16_t count;
    uint32_t len_bytes;
};

/* Channels of records: the output channels of PMIx, and one for xylem's own
 * messages. */
enum ov_channel {
    OV_CHANNEL_STATE = 0, /* states, exits, statistics: messages of the
                             drivers */
    OV_CHANNEL_STDOUT = 1,
    OV_CHANNEL_STDERR = 2,
    OV_CHANNEL_STDDIAG = 3,
    OV_CHANNELS
};

enum ov_record_flag {
    OV_RECORD_EOF = 1, /* the channel ends with this record */
    OV_RECORD_FLAGS = 1
};

struct ov_record {
    uint32_t source; /* node that made and numbered the record */
    uint32_t rank;   /* number of the process; for OV_CHANNEL_STATE the number
                        of the source node */
    uint64_t seq;    /* number of the record among those of its source: 1, 2, 3
                        ... */
    uint32_t len_bytes;
    uint16_t job;
    uint8_t channel; /* enum ov_channel */
    uint8_t flags;   /* enum ov_record_flag */
};

enum ov_down_flag {
    OV_DOWN_END = 1,  /* the stream ends with this frame */
    OV_DOWN_SOME = 2, /* the frame is for some processes only: see
                         overlay/wire/push.h */
    OV_DOWN_FLAGS = 3
};

struct ov_down {
    uint32_t stream;
    uint32_t flags;
    uint64_t seq;
};

void ov_frame_head_encode(struct ov_wr *wr, const struct ov_frame_head *head);

/* Decodes the prefix of a frame of len_bytes. Returns 0, or OV_EPROTO when it
 * is too short, its type is unknown, or its length is not len_bytes. */
int ov_frame_head_decode(const uint8_t *mem, uint32_t len_bytes,
                         struct ov_frame_head *head);

void ov_record_encode(struct ov_wr *wr, const struct ov_record *rec);

/* Reads one record head; OV_EPROTO when bytes are missing or a field is
 * outside its range. */
int ov_record_decode(struct ov_rd *rd, struct ov_record *rec);

/* Checks a whole UP frame: that the table is complete, and that the lengths of
 * the payloads add up to that of the frame. O(count). Returns 0 or OV_EPROTO.
 * *payload_off is where the first payload starts. `mem` need not have the bytes
 * after the table. */
int ov_up_check(const uint8_t *mem, const struct ov_frame_head *head,
                uint32_t *payload_off);

/* Writes the whole 32-byte head of a DOWN frame with payload_bytes. */
void ov_down_encode(struct ov_wr *wr, uint8_t tree, const struct ov_down *down,
                    uint32_t payload_bytes);

/* Reads what follows the prefix of a DOWN frame. Returns 0, or OV_EPROTO when
 * bytes are missing or a field is outside its range. */
int ov_down_decode(const uint8_t *mem, const struct ov_frame_head *head,
                   struct ov_down *down);

#endif
