/* Which output of a further job travels up the tree: output that nobody wants
 * need not.
 *
 *     a channel           TRAVELS                      DROPPED
 *     came for nobody     counts                       was on its way
 *     turn to drop        DROPPED where unwanted, and  -
 *                         its node is told
 *     turn to send        -                            TRAVELS where wanted,
 * and its node is told
 *
 * Everything travels at first, so that who asks soon misses nothing. A turn to
 * drop is due once JOB_UNWANTED_BYTES of all channels came for nobody; one to
 * send whenever somebody wants more than before. So a channel that somebody
 * wants travels, from that turn on.
 *
 * Pure. Memory: a byte for each process.
 */
#ifndef JOB_SUBSCRIPTION_H
#define JOB_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

enum { JOB_UNWANTED_BYTES = 64 * 1024 };

struct job_subscription;

/* For ranks from 0 to `size`, exclusive. Returns 0 or OV_ENOMEM. */
int job_subscription_open(uint32_t size, struct job_subscription **out);
/* NULL is fine. */
void job_subscription_close(struct job_subscription *sub);

/* A record came that nobody wanted. True: a turn to drop is due. O(1). */
bool job_subscription_unwanted(struct job_subscription *sub, uint32_t rank,
                               uint8_t channel, uint32_t len_bytes);

/* Part of a turn to send or to drop, which the caller does for each channel of
 * each rank. True: the channel has changed, and its node must be told. O(1). */
bool job_subscription_turn(struct job_subscription *sub, uint32_t rank,
                           uint8_t channel, bool is_wanted, bool is_to_send);

#endif
