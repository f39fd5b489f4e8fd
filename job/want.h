/* Output that somebody wants, or nobody: the order on stream 0.
 *
 *     channels 1, flags 1, then ranges of process numbers, first 4 and last 4
 *     each
 *
 * Channels are bits, 1 << channel each. With flag 1 these channels are wanted
 * from now on, else they are not: what comes of them is read and dropped where
 * it was written, and only their end travels. With flags 1 and 2 they are
 * wanted, but held back: they are not read, so that who writes more than a pipe
 * takes waits. A channel is wanted, and not held back, until an order says
 * otherwise.
 */
#ifndef JOB_WANT_H
#define JOB_WANT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum {
    JOB_WANT_RANGES_MAX = 64, /* of one order */
    JOB_WANT_ORDER_BYTES = 2 + 8 * JOB_WANT_RANGES_MAX,
};

struct job_want_order {
    uint8_t channels;
    bool is_wanted, is_held_back;
    struct ov_rd ranges; /* to be written: none, the caller adds them */
};

void job_want_order_encode(struct ov_wr *wr,
                           const struct job_want_order *order);
/* Returns 0, or OV_EPROTO when something is missing, no range is there, or more
 * than there may be. */
int job_want_order_decode(struct ov_rd body, struct job_want_order *out);

#endif
