/* One channel of a job whose output is folded (job/fold.h): its records become
 * lines, groups of equal lines go to the console, and when these are written,
 * so are the records that the lines came from.
 *
 * Records are copied, once for all ranks that wrote the same, and kept until
 * all their lines are written. What is written is compared with what came, by a
 * sum of each rank's lines: so the proof of a job holds for folded output, too.
 *
 * A line without a newline after EP_FOLD_LINE_MAX bytes, or after the time that
 * a group may be open, goes to the console as it comes, as the line of one
 * rank. All groups that this rank is in go before it.
 *
 * Whole outputs (EP_FOLD_END, EP_FOLD_DIFF) are kept until all have ended, or
 * there is no more room for them, and shown by fold_whole.h. Their lines are
 * cut after each EP_FOLD_LINE_MAX bytes.
 *
 * Memory: EP_FOLD_LANE_BYTES for groups and records, EP_FOLD_WHOLE_BYTES each
 * for whole outputs and for their records, EP_FOLD_PARTS_BYTES for unfinished
 * lines, 128 and 24 bytes for each rank, and what the console has (fold_out.h).
 * Only folds.c uses this.
 */
#ifndef ENDPOINTS_OUTPUT_FOLD_LANE_H
#define ENDPOINTS_OUTPUT_FOLD_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/fold_how.h"
#include "endpoints/output/fold_out.h"
#include "endpoints/output/fold_whole.h"
#include "job/fold.h"
#include "job/texts.h"

struct fold_source;

enum {
    EP_FOLD_LINE_MAX = 64 * 1024,
    EP_FOLD_LANE_BYTES = 16 << 20,
    EP_FOLD_PARTS_BYTES = 4 << 20,
    EP_FOLD_WHOLE_BYTES = 32 << 20,
};

/* How long a group may be open. */
#define EP_FOLD_WAIT_NS UINT64_C(1000000000)

struct fold_lane_cfg {
    enum ep_fold how;
    uint32_t ranks;
    uint8_t channel;
    /* As in struct fold_out_cfg. */
    bool has_hosts;
    const struct text_style *style, *plain;
    int (*on_record)(void *arg, const struct job_record *rec);
    /* All lines of a record are written. */
    void (*on_written)(void *arg, uint32_t rank, uint8_t channel,
                       const void *mem, uint32_t len_bytes);
    /* There is no more room for whole outputs: what there is of them is shown,
     * and lines are folded from here on. */
    void (*on_full)(void *arg);
    void *arg;
};

struct fold_lane {
    struct fold_lane_cfg cfg;
    struct job_fold *fold;       /* owned */
    struct fold_source *sources; /* owned [cfg.ranks] */
    struct job_texts records;    /* the records that are not written */
    uint64_t queue_bytes;        /* of the lists of these */
    /* The first and the last, by age, of the sources with an unfinished line
     * that may still be folded. */
    struct fold_source *oldest, *newest;
    uint64_t parts_bytes;      /* of these lines */
    struct job_wholes *wholes; /* owned; NULL: lines are folded */
    struct fold_whole whole;   /* wholes that are being shown */
    struct fold_out out;
};

/* Returns 0 or OV_ENOMEM. */
int ep_fold_lane_open(struct fold_lane *lane, const struct fold_lane_cfg *cfg);
/* Drops everything, without callbacks. A lane that is all zero is fine. */
void ep_fold_lane_close(struct fold_lane *lane);

/* Takes a record of a rank below cfg.ranks. Its bytes are copied. Returns 0,
 * OV_ENOMEM or what on_record returned. */
int ep_fold_lane_record(struct fold_lane *lane, const struct job_record *rec,
                        uint64_t now_ns);
/* Notes that no output of this rank comes. Returns as ep_fold_lane_record(). */
int ep_fold_lane_end(struct fold_lane *lane, uint32_t rank, uint64_t now_ns);
/* Makes everything final. Returns as ep_fold_lane_record(). */
int ep_fold_lane_finish(struct fold_lane *lane, uint64_t now_ns);

/* Hands what is final to the console, as far as it has room. Returns as
 * ep_fold_lane_record(). */
int ep_fold_lane_show(struct fold_lane *lane, uint64_t now_ns);
/* Returns when the time makes something final; UINT64_MAX: never. */
uint64_t ep_fold_lane_deadline(const struct fold_lane *lane);

/* True when groups have to be shown before the lane takes records. */
bool ep_fold_lane_is_full(const struct fold_lane *lane);
/* True when the lane takes records. */
bool ep_fold_lane_has_room(const struct fold_lane *lane);
/* True when the console has all that came, and has given it back. Whole outputs
 * that are not being shown do not count. */
bool ep_fold_lane_is_empty(const struct fold_lane *lane);
/* Returns the bytes of lines that the console has not got, a byte counting once
 * for each rank. O(groups). */
uint64_t ep_fold_lane_waiting(const struct fold_lane *lane);

#endif
