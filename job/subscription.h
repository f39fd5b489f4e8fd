/* Decides which channels of a further job send their output up the tree: output
 * that no client wants need not travel.
 *
 *     event               a channel in TRAVELS       a channel in DROPPED
 *     unwanted output     its bytes are counted      changes nothing (the
 *                                                    output was on its way)
 *     turn to drop        goes to DROPPED where no   -
 *                         client wants it; the node
 *                         is told
 *     turn to send        -                          goes to TRAVELS where a
 *                                                    client wants it; the
 *                                                    node is told
 *
 * At first all output travels, so that a client that asks soon misses nothing.
 * A turn to drop is due once JOB_UNWANTED_BYTES, counted over all channels,
 * came that no client wanted. A turn to send is due whenever a client wants
 * more channels than before; from that turn on these channels travel.
 *
 * Pure. Memory: a byte for each process.
 */
#ifndef JOB_SUBSCRIPTION_H
#define JOB_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

enum { JOB_UNWANTED_BYTES = 64 * 1024 };

struct job_subscription;

/* Creates *out for `size` ranks. Returns 0 or OV_ENOMEM. */
int job_subscription_open(uint32_t size, struct job_subscription **out);
/* NULL is fine. */
void job_subscription_close(struct job_subscription *sub);

/* Notes that a record came that no client wanted. True: a turn to drop is due.
 * O(1). */
bool job_subscription_unwanted(struct job_subscription *sub, uint32_t rank,
                               uint8_t channel, uint32_t len_bytes);

/* Does a turn for one channel of one rank; the caller does this for each
 * channel of each rank. True: the state of the channel has changed, and the
 * caller must tell its node. O(1). */
bool job_subscription_turn(struct job_subscription *sub, uint32_t rank,
                           uint8_t channel, bool is_wanted, bool is_to_send);

#endif
