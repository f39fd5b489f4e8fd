/* What has become of each delivery: how far the library has written, and how
 * far the tool has read.
 *
 * Deliveries are numbered from 1. The library makes as many messages of each as
 * there are registrations that name it: one, several or none, which it does not
 * say. Messages leave in the order of the deliveries. So all messages of a
 * delivery are in the stream when a message of a later one begins, or when the
 * library has nothing left to write. Where in the stream that was is kept as a
 * mark: with it, how far the tool has read the stream tells how many deliveries
 * it has.
 *
 * Pure, and not thread-safe. O(1) amortised.
 */
#ifndef PMIX_API_HELPER_LIB_LEDGER_H
#define PMIX_API_HELPER_LIB_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEDGER_OPEN_MAX = 256, /* deliveries that are not written yet */
    /* That are known to have been named by no registration. */
    LEDGER_MISSED = 256,
    /* Beyond this number some marks are dropped; the next one then says what
     * they said. */
    LEDGER_MARKS = 1024,
};

/* This many deliveries end where this many bytes of the stream do, or
 * before. */
struct px_ledger_mark {
    uint64_t number, end;
};

/* All zero before the first delivery. */
struct px_ledger {
    uint64_t given;      /* number of deliveries: handed to the library, */
    uint64_t handled;    /* whose messages the library has made, */
    uint64_t begun;      /* up to the last one with a message begun, */
    uint64_t written;    /* whose messages are all written, */
    uint64_t taken;      /* and whose messages are all read */
    uint64_t bytes;      /* written to the stream */
    uint64_t left_bytes; /* not yet written of the message that is begun */
    uint64_t open_bytes; /* cost of the deliveries that are not written */
    uint64_t costs[LEDGER_OPEN_MAX];
    struct px_ledger_mark marks[LEDGER_MARKS]; /* a ring, ascending */
    unsigned first, used;
    /* The last ones, in the order in which they were found. */
    uint64_t missed[LEDGER_MISSED];
    uint64_t missed_count;
};

/* True when nothing can be given before some deliveries are written. */
bool px_ledger_is_full(const struct px_ledger *ledger);

/* Counts a delivery that is given; the ledger must not be full. */
void px_ledger_give(struct px_ledger *ledger, uint64_t cost_bytes);

/* Says that the library has made the messages of the next delivery. */
void px_ledger_handle(struct px_ledger *ledger);

/* Says that a message of this many bytes is about to be written. It belongs to
 * the delivery `number`, or to none when that is 0. To be called again when
 * no part of it could be written. */
void px_ledger_begin(struct px_ledger *ledger, uint64_t number,
                     uint64_t len_bytes);

/* Says how much was written. True: the message is whole. */
bool px_ledger_write(struct px_ledger *ledger, uint64_t bytes);

/* Says that the library has nothing left to write of deliveries up to this
 * one. */
void px_ledger_rest(struct px_ledger *ledger, uint64_t number);

/* The first delivery after `behind` of which no message was made; 0: there is
 * none among those that are written. O(LEDGER_MISSED). */
uint64_t px_ledger_missed(const struct px_ledger *ledger, uint64_t behind);

/* Says that the tool has read the stream up to this position. */
void px_ledger_read(struct px_ledger *ledger, uint64_t position);

#endif
