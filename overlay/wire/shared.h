/* SHARED frames: records of which many are equal.
 *
 * A table has each payload ("line") once, and runs of records name lines by
 * their place in it:
 *
 *      0       2       4       8       12
 *     +---+---+-------+-------+-------+--------------+------+-------+
 *     | 4 | t | runs  | len   | lines | end of line  | runs | lines |
 *     +---+---+-------+-------+-------+--------------+------+-------+
 *                                       4 * lines
 *
 * The lines are the last bytes of the frame; `end` counts from the first of
 * them. A run is one record:
 *
 *      0        4        8              16    18   19   20       24
 *     +--------+--------+--------------+-----+----+----+--------+
 *     | source | rank   | seq          | job | ch | fl | line   |
 *     +--------+--------+--------------+-----+----+----+--------+
 *
 * or, with the flag OV_RUN_MANY, `times` groups of `lines` records each:
 *
 *      24       28       32       36      38   39   40
 *     +--------+--------+--------+-------+----+----+
 *     | times  | d rank | d seq  | lines | ds | dl |
 *     +--------+--------+--------+-------+----+----+
 *
 * Record i of group j is number seq + j * dseq + i of source + j * ds, of the
 * process rank + j * drank, and has line + i * dl. The records are in this
 * order, group by group; those of each source ascend. ds and dl are 0 or 1.
 */
#ifndef OVERLAY_WIRE_SHARED_H
#define OVERLAY_WIRE_SHARED_H

#include "overlay/wire/frame.h"

enum {
    OV_SHARED_HEAD_BYTES = 12, /* before the table of ends */
    OV_LINE_END_BYTES = 4,
    OV_RUN_BYTES = 24,
    OV_RUN_MANY_BYTES = 40,
    OV_RUN_MANY = 0x80,             /* a flag of a run on the wire alone */
    OV_SHARED_RECORDS_MAX = 1 << 30 /* a frame has no more records than this */
};

struct ov_run {
    uint64_t seq;
    uint32_t source;
    uint32_t rank;
    uint32_t line;
    uint32_t times;
    uint32_t rank_step;
    uint32_t seq_step;
    uint16_t lines;
    uint16_t job;
    uint8_t channel; /* enum ov_channel */
    uint8_t flags;   /* enum ov_record_flag */
    uint8_t source_step;
    uint8_t line_step;
};

/* What lies where in a SHARED frame; offsets from its first byte. */
struct ov_shared {
    uint32_t lines;
    uint32_t runs;
    uint32_t runs_off;
    uint32_t lines_off;
};

static inline uint64_t ov_run_records(const struct ov_run *run)
{
    return (uint64_t)run->times * run->lines;
}

static inline uint32_t ov_run_bytes(const struct ov_run *run)
{
    return ov_run_records(run) == 1 ? OV_RUN_BYTES : OV_RUN_MANY_BYTES;
}

void ov_run_encode(struct ov_wr *wr, const struct ov_run *run);

/* Reads one run; OV_EPROTO when bytes are missing, a field is outside its
 * range, or a number passes the end of its type. */
int ov_run_decode(struct ov_rd *rd, struct ov_run *run);

/* Record number `item` of the run, counted from 0, without its length; *line is
 * the number of its line. */
struct ov_record ov_run_record(const struct ov_run *run, uint32_t item,
                               uint32_t *line);

/* Checks a whole SHARED frame. O(runs + lines). Returns 0 or OV_EPROTO. `mem`
 * need not have the bytes of the lines. */
int ov_shared_decode(const uint8_t *mem, const struct ov_frame_head *head,
                     struct ov_shared *shared);

/* The offset and the length of a line of a frame that was checked. */
uint32_t ov_shared_line(const uint8_t *mem, const struct ov_shared *shared,
                        uint32_t line, uint32_t *len_bytes);

/* Where a reader is in a frame of records, UP or SHARED, that was checked. */
struct ov_up_at {
    uint32_t off;  /* offset of the next record head, or of the run */
    uint32_t data; /* UP: offset of that record's payload; SHARED: how many
                      records of the run were read */
    uint16_t left; /* record heads or runs that are left; 0: no more records */
};

struct ov_up_at ov_up_begin(const uint8_t *mem, uint32_t len_bytes);

/* Reads the next record and returns the offset of its payload. */
uint32_t ov_up_next(const uint8_t *mem, uint32_t len_bytes, struct ov_up_at *at,
                    struct ov_record *rec);

/* True when a frame that was checked has records of processes' output. O(record
 * heads or runs). */
bool ov_up_has_output(const uint8_t *mem, uint32_t len_bytes);

#endif
