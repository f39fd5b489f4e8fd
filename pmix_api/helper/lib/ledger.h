/* What has become of each delivery: how far the library has written, and the
 * tool has read.
 *
 * Deliveries are numbered from 1. The library makes of each as many messages as
 * there are registrations that name it: one, several or none, which it does not
 * say. Messages leave in the order of the deliveries, so that all of a delivery
 * are in the stream when a message of a later one begins, or when the library
 * has nothing more to write. Where that was in the stream is kept as a mark,
 * and who knows how far the tool has read the stream knows how many deliveries
 * it has.
 *
 * Pure, and not thread-safe. O(1) amortised.
 */
#ifndef PMIX_API_HELPER_LIB_LEDGER_H
#define PMIX_API_HELPER_LIB_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEDGER_OPEN_MAX = 256, /* deliveries that are not written */
    LEDGER_MISSED = 256,   /* known ones that no registration names */
    LEDGER_MARKS = 1024,   /* with more of them, some are left out: what they
                              say is told by the next one */
};

/* So many deliveries end where so many bytes of the stream do, or before. */
struct px_ledger_mark {
    uint64_t number, end;
};

/* All zero: nothing was delivered yet. */
struct px_ledger {
    uint64_t given;   /* deliveries: handed to the library, */
    uint64_t handled; /* of which it has made its messages, */
    uint64_t begun; /* the last one of which it has begun to write a message */
    uint64_t written;    /* of which all messages are written, */
    uint64_t taken;      /* and read */
    uint64_t bytes;      /* of the stream */
    uint64_t left_bytes; /* of the message that is being written */
    uint64_t open_bytes; /* the cost of those that are not written */
    uint64_t costs[LEDGER_OPEN_MAX];
    struct px_ledger_mark marks[LEDGER_MARKS]; /* a ring, ascending */
    unsigned first, used;
    uint64_t missed[LEDGER_MISSED]; /* the last ones, by their count */
    uint64_t missed_count;
};

/* No more can be given before some are written. */
bool px_ledger_is_full(const struct px_ledger *ledger);

/* One more is given; it is not full. */
void px_ledger_give(struct px_ledger *ledger, uint64_t cost_bytes);

/* The library has made the messages of the next one. */
void px_ledger_handle(struct px_ledger *ledger);

/* A message of so many bytes is about to be written; of this delivery, 0: of
 * none. Said again where nothing of it could be written. */
void px_ledger_begin(struct px_ledger *ledger, uint64_t number,
                     uint64_t len_bytes);

/* So much was written. True: the message is whole. */
bool px_ledger_write(struct px_ledger *ledger, uint64_t bytes);

/* The library has nothing to write that belongs to a delivery up to this one.
 */
void px_ledger_rest(struct px_ledger *ledger, uint64_t number);

/* The first one behind this delivery of which no message was made; 0: there is
 * none among those that are written. O(LEDGER_MISSED). */
uint64_t px_ledger_missed(const struct px_ledger *ledger, uint64_t behind);

/* The tool has read the stream up to there. */
void px_ledger_read(struct px_ledger *ledger, uint64_t position);

#endif
