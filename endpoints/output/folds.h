/* Output of a job folded: the console shows a line once, with all ranks that
 * said it (endpoints/output/fold_lane.h). Each channel is folded by itself.
 *
 * A record is copied and given back at once, while the console has room. When
 * it has none, records wait in hand: their windows then hold up the job, as a
 * console that is slow does in any case.
 *
 * All calls and callbacks happen in the thread that runs the event base.
 */
#ifndef ENDPOINTS_OUTPUT_FOLDS_H
#define ENDPOINTS_OUTPUT_FOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/fold_how.h"
#include "text/style.h"

struct ep_folds;
struct event_base;
struct job_record;

/* The most memory that folding takes for a job with this many ranks. */
#define EP_FOLDS_BYTES(how, ranks)                                             \
    (((how) == EP_FOLD_LIVE ? UINT64_C(80) << 20 : UINT64_C(288) << 20) +      \
     UINT64_C(512) * (ranks))

struct ep_folds_events {
    /* Hands a record on, whose bytes are borrowed until ep_folds_taken() with
     * its cookie. Returns 0, or a negative code when it was not taken. May come
     * from within a call. */
    int (*on_record)(void *arg, const struct job_record *rec);
    /* These bytes are written: one record, whole and unchanged, in order for
     * each channel. May come from within a call. */
    void (*on_written)(void *arg, uint32_t proc, uint8_t channel,
                       const void *mem, uint32_t len_bytes);
    /* The caller's record is not needed any longer. Comes from the loop, or
     * from within ep_folds_taken(). */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* Output cannot go on, for the reason in `why`; what comes is dropped.
     * Called once at most, from the loop. */
    void (*on_error)(void *arg, int err, const char *why);
    void (*on_note)(void *arg, const char *text); /* for the user; once */
    /* After ep_folds_finish(): everything was handed on. Called once. */
    void (*on_over)(void *arg);
};

struct ep_folds_cfg {
    struct event_base *base; /* borrowed, like all pointers here */
    enum ep_fold how;        /* not EP_FOLD_NONE */
    struct text_style style; /* as it would be without folding */
    uint32_t ranks;
    uint8_t channels; /* those that are folded: bits, 1 << TEXT_CHANNEL_ */
    /* False: no output of this rank comes. NULL: that of all ranks does. */
    bool (*has_turn)(const void *arg, uint32_t rank);
    const void *turn_arg;
    const struct ep_folds_events *events;
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_folds_open(const struct ep_folds_cfg *cfg, struct ep_folds **out);

/* Drops everything, without callbacks. Nothing that was handed on may be in use
 * any longer. NULL is fine. */
void ep_folds_close(struct ep_folds *folds);

/* Takes a record of a rank, whose process has the number of the rank. Its bytes
 * are borrowed until on_taken. Returns 0 or OV_ENOMEM; the record then still
 * belongs to the caller. */
int ep_folds_record(struct ep_folds *folds, const struct job_record *rec);

/* Hands on a record that is not folded. Returns as ep_folds_record(). */
int ep_folds_pass(struct ep_folds *folds, const struct job_record *rec);

/* A record that was handed on is not in use any longer. Comes from the loop. */
void ep_folds_taken(struct ep_folds *folds, uint64_t cookie);

/* A record that was handed on is written. */
void ep_folds_written(struct ep_folds *folds, uint32_t proc, uint8_t channel,
                      const void *mem, uint32_t len_bytes);

/* Says that no record follows: what waits goes on. May be called again. */
void ep_folds_finish(struct ep_folds *folds);

/* Drops what waits, and records that come. */
void ep_folds_give_up(struct ep_folds *folds);

/* Returns how many records are in hand, plus 1 for all lines that wait, and the
 * callbacks that are due. */
uint64_t ep_folds_pending(const struct ep_folds *folds);

/* Returns the bytes that were dropped. */
uint64_t ep_folds_dropped(const struct ep_folds *folds);

#endif
