/* Counts the OUTPUTs of a redirecting connection that the session may forget:
 * those that the tool has read, counted from the first one on (JOB_DOOR_TAKEN).
 * All others go back to the session when the connection ends.
 *
 * An OUTPUT goes to the tool in a delivery, possibly with others of its
 * channel, and possibly after later ones of other channels. Memory: at most 24
 * bytes for each of PX_RECEIPTS_MAX. Pure.
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

/* Notes that an OUTPUT has come, of this channel of the connection (any number
 * identifies it). There must be room: px_receipts_are_full(). O(1). */
void px_receipts_add(struct px_receipts *receipts, uint64_t channel);
/* Notes that this delivery has all OUTPUTs of the channel that were not given
 * before. Deliveries are numbered from 1 on, ascending. O(OUTPUTs not given,
 * and later ones). */
void px_receipts_give(struct px_receipts *receipts, uint64_t channel,
                      uint64_t delivery);
/* Notes that this delivery reached no pull: neither it nor a later one counts.
 * O(1). */
void px_receipts_miss(struct px_receipts *receipts, uint64_t delivery);
/* Notes that `taken` deliveries are read. Returns how many OUTPUTs the session
 * may forget. O(1) amortised. */
uint64_t px_receipts_take(struct px_receipts *receipts, uint64_t taken);

/* True when there is no room for another OUTPUT. */
bool px_receipts_are_full(const struct px_receipts *receipts);
/* True when each given OUTPUT is read or has reached no pull. O(1). */
bool px_receipts_are_settled(const struct px_receipts *receipts,
                             uint64_t taken);
/* True when no OUTPUT has come that the session may not forget yet. */
bool px_receipts_are_empty(const struct px_receipts *receipts);

#endif
