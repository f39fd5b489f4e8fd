/* Folds records into a SHARED frame: equal lines are there once, and records
 * whose sources, ranks and numbers ascend together are one run.
 *
 * The tables are scratch memory of the driver, one for each thread (ov_out has
 * it): nothing of them lasts from one frame to the next.
 *
 * The order of the records of each source is kept. Those of one place, through
 * which records come in order, go into runs at or behind the one that had the
 * last of them before; other places have other sources.
 */
#ifndef OVERLAY_FOLD_H
#define OVERLAY_FOLD_H

#include "overlay/out.h"
#include "overlay/wire/shared.h"

enum {
    OV_FOLD_LINES = 6144, /* most different lines in a frame */
    OV_FOLD_RUNS = 1024,
    OV_FOLD_LINE_SLOTS = 16384, /* a power of 2 */
    OV_FOLD_RUN_SLOTS = 2048,
};

struct ov_fold_line {
    struct ov_buf *buf; /* borrowed; NULL for a line without bytes */
    uint32_t off_bytes;
    uint32_t len_bytes;
    uint64_t hash;
};

struct ov_fold_run {
    struct ov_run run;
    uint32_t before; /* an earlier run with the same hash, plus 1 */
};

/* An entry of a table that is empty unless its stamp is that of the frame. */
struct ov_fold_slot {
    uint32_t stamp;
    uint32_t index;
};

/* How far a frame is, to go back to. */
struct ov_fold_state {
    struct ov_run pending; /* a run that may get more lines; lines: 0 where
                              there is none */
    uint64_t records;
    uint64_t plain_bytes; /* heads and lines of an UP frame with the same */
    uint32_t line_bytes;
    uint32_t lines;
    uint32_t runs;
    uint32_t slices; /* stretches of memory that the lines are in */
    uint32_t cursor; /* the next run of the place goes here or behind it */
    bool is_full;    /* something did not fit: the rest is not added */
};

struct ov_fold {
    struct ov_fold_line line[OV_FOLD_LINES];
    struct ov_fold_run run[OV_FOLD_RUNS];
    struct ov_fold_slot line_slot[OV_FOLD_LINE_SLOTS];
    struct ov_fold_slot run_slot[OV_FOLD_RUN_SLOTS];
    uint32_t map[OV_FOLD_LINES]; /* lines of the frame that is added */
    struct ov_fold_state at;
    struct ov_fold_state saved_at;
    struct ov_fold_run saved_run[OV_FOLD_RUNS];
    uint32_t frame_bytes; /* largest frame */
    uint32_t stamp;
};

/* Begins a frame of frame_bytes at most. */
void ov_fold_begin(struct ov_fold *fold, uint32_t frame_bytes);

/* Goes on with the records of another place, whose cursor is this one; returns
 * the cursor of the place before. */
uint32_t ov_fold_switch(struct ov_fold *fold, uint32_t cursor);

/* Adds all records of a frame that was checked, or one record. O(bytes). The
 * buffers stay the caller's, and must last until the frame is written. */
void ov_fold_frame(struct ov_fold *fold, struct ov_buf *buf);
void ov_fold_record(struct ov_fold *fold, const struct ov_record *rec,
                    struct ov_buf *buf, uint32_t off_bytes);

/* Keeps how far the frame is; the second function goes back to there. O(runs).
 */
void ov_fold_save(struct ov_fold *fold);
void ov_fold_restore(struct ov_fold *fold);

/* False when something did not fit into the frame. */
bool ov_fold_fits(const struct ov_fold *fold);

/* The bytes of the frame. */
uint32_t ov_fold_bytes(const struct ov_fold *fold);

/* Writes the frame as a SEND. */
void ov_fold_write(struct ov_fold *fold, uint8_t tree, struct ov_act *act,
                   struct ov_out *out);

#endif
