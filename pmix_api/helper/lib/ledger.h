/* Keeps account of deliveries: which of them libpmix has written to the tool's
 * socket (the stream), and which the tool has read.
 *
 * Deliveries are numbered from 1. libpmix makes a message for each registered
 * pull that names a delivery: one, several or none; how many, it does not say.
 * Messages leave in the order of the deliveries. So all messages of a delivery
 * are in the stream when a message of a later delivery begins, or when libpmix
 * has nothing left to write. The ledger keeps this position in the stream as a
 * mark. From the marks and the position up to which the tool has read the
 * stream, it is known how many deliveries the tool has read.
 *
 * Pure, and not thread-safe. O(1) amortised.
 */
#ifndef PMIX_API_HELPER_LIB_LEDGER_H
#define PMIX_API_HELPER_LIB_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEDGER_OPEN_MAX = 256, /* the most deliveries that are not written yet */
    /* How many deliveries that no pull named are remembered until the caller
     * has asked for them. */
    LEDGER_MISSED = 1024,
    /* The most marks. Beyond this number some are dropped, and the next mark
     * stands for them, too. */
    LEDGER_MARKS = 1024,
};

/* The first `number` deliveries are complete in the first `end` bytes of the
 * stream. */
struct px_ledger_mark {
    uint64_t number, end;
};

/* All zero: there was no delivery. The following five numbers count deliveries,
 * and never grow from one to the next. */
struct px_ledger {
    uint64_t given;   /* deliveries handed to libpmix */
    uint64_t handled; /* deliveries for which libpmix has made the messages */
    uint64_t begun;   /* deliveries up to the last with a message begun to be
                       * written */
    uint64_t written; /* deliveries with all messages written */
    uint64_t taken;   /* deliveries with all messages read by the tool */
    uint64_t bytes;   /* how many bytes were written to the stream */
    uint64_t left_bytes; /* bytes of the begun message that are not yet
                            written */
    uint64_t open_bytes; /* the sum of `costs` of the deliveries that are not
                            written */
    uint64_t costs[LEDGER_OPEN_MAX];
    struct px_ledger_mark marks[LEDGER_MARKS]; /* a ring, ascending */
    unsigned first, used;
    /* The last deliveries that no pull named, ascending: a ring. */
    uint64_t missed[LEDGER_MISSED];
    uint64_t missed_count; /* how many deliveries no pull has named so far */
    uint64_t missed_seen;  /* how many of these deliveries the caller knows */
};

/* True when no further delivery can be made before some are written, or before
 * the caller has asked for those that no pull named: none of these may be
 * forgotten, as its bytes would count as read. */
bool px_ledger_is_full(const struct px_ledger *ledger);

/* Counts a delivery that is handed to libpmix; the ledger must not be full. */
void px_ledger_give(struct px_ledger *ledger, uint64_t cost_bytes);

/* Notes that libpmix has made the messages of the next delivery. */
void px_ledger_handle(struct px_ledger *ledger);

/* Notes that libpmix is about to write a message of this many bytes, which
 * belongs to delivery `number`, or to no delivery when that is 0. To be called
 * again before the next attempt if no byte of it could be written. */
void px_ledger_begin(struct px_ledger *ledger, uint64_t number,
                     uint64_t len_bytes);

/* Notes that this many bytes of the message were written. True: the message is
 * complete. */
bool px_ledger_write(struct px_ledger *ledger, uint64_t bytes);

/* Notes that libpmix has nothing left to write of the deliveries up to this
 * one. */
void px_ledger_rest(struct px_ledger *ledger, uint64_t number);

/* The first delivery after number `behind` that no pull named; 0: none is known
 * so far. `behind` must not be less than before: those up to it are forgotten.
 * O(1) amortised. */
uint64_t px_ledger_missed(struct px_ledger *ledger, uint64_t behind);

/* Notes that the tool has read the stream up to this position. */
void px_ledger_read(struct px_ledger *ledger, uint64_t position);

#endif
