/* Counts how many OUTPUT messages of a redirecting connection, from the first
 * one on, the tool has read. The helper reports this number to the session
 * (JOB_DOOR_TAKEN), which may forget these; it sends all others to its console
 * when the connection ends.
 *
 * An OUTPUT goes to the tool in a delivery, possibly together with other
 * OUTPUTs of its channel, and possibly after later OUTPUTs of other channels.
 * Memory: at most 24 bytes for each of PX_RECEIPTS_MAX OUTPUTs. Pure.
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

/* Notes that an OUTPUT has come. `channel` is any number that identifies its
 * process and channel in the connection. px_receipts_are_full() must be false.
 * O(1). */
void px_receipts_add(struct px_receipts *receipts, uint64_t channel);
/* Notes that this delivery contains all OUTPUTs of the channel that were not
 * delivered before. Deliveries are numbered from 1 on, ascending. O(OUTPUTs not
 * delivered, and later ones). */
void px_receipts_give(struct px_receipts *receipts, uint64_t channel,
                      uint64_t delivery);
/* Notes that this delivery reached no pull: neither it nor a later delivery
 * counts as read. O(1). */
void px_receipts_miss(struct px_receipts *receipts, uint64_t delivery);
/* Notes that the tool has read the first `taken` deliveries. Returns how many
 * OUTPUTs the session may forget. O(1) amortised. */
uint64_t px_receipts_take(struct px_receipts *receipts, uint64_t taken);

/* True when there is no room for another OUTPUT. */
bool px_receipts_are_full(const struct px_receipts *receipts);
/* True when the tool has read each OUTPUT that was delivered, except those that
 * reached no pull. O(1). */
bool px_receipts_are_settled(const struct px_receipts *receipts,
                             uint64_t taken);
/* True when the session may forget all OUTPUTs that have come. */
bool px_receipts_are_empty(const struct px_receipts *receipts);

#endif
