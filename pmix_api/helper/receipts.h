/* Which OUTPUTs of a connection that redirects need not come back any more:
 * those that the tool has read, counted from the first one on (JOB_DOOR_TAKEN).
 *
 * An OUTPUT comes, and goes to the tool in a delivery, with others of its
 * channel maybe, and maybe after later ones of other channels. Memory: at most
 * 24 bytes for each of PX_RECEIPTS_MAX. Pure.
 */
#ifndef PMIX_API_HELPER_RECEIPTS_H
#define PMIX_API_HELPER_RECEIPTS_H

#include <stdbool.h>
#include <stdint.h>

struct px_receipts;

enum { PX_RECEIPTS_MAX = 16384 };

/* Returns 0 or OV_ENOMEM. */
int px_receipts_open(struct px_receipts **out);
void px_receipts_close(struct px_receipts *receipts);

/* One more OUTPUT has come, of this channel of the connection (any number).
 * There is room: px_receipts_are_full(). O(1). */
void px_receipts_add(struct px_receipts *receipts, uint64_t channel);
/* All that came of the channel, and was not given before, is in this delivery
 * (from 1 on, ascending). O(OUTPUTs not given, and later ones). */
void px_receipts_give(struct px_receipts *receipts, uint64_t channel,
                      uint64_t delivery);
/* This delivery reached nobody: none from it on counts. O(1). */
void px_receipts_miss(struct px_receipts *receipts, uint64_t delivery);
/* So many deliveries are read. Returns how many OUTPUTs need not come back.
 * O(1) amortised. */
uint64_t px_receipts_take(struct px_receipts *receipts, uint64_t taken);

/* One more would be too many. */
bool px_receipts_are_full(const struct px_receipts *receipts);
/* All that was given is read, or reached nobody. O(1). */
bool px_receipts_are_settled(const struct px_receipts *receipts,
                             uint64_t taken);
/* None has come that need not come back. */
bool px_receipts_are_empty(const struct px_receipts *receipts);

#endif
