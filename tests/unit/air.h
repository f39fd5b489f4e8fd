/* What is on its way in a little world: things with a time, in order.
 *
 * A heap by time. Things of the same time keep the order in which they came.
 */
#ifndef TESTS_UNIT_AIR_H
#define TESTS_UNIT_AIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/base/buf.h"

enum fly_kind {
    FLY_FRAME,
    FLY_SENT,
    FLY_DIAL,
    FLY_PROBE,
    FLY_DOWN,
    FLY_TAKEN,
    FLY_CONSUMED,
    FLY_READY,
    FLY_READ,
};

/* Something that happens to a node. */
struct fly {
    uint64_t due_ns;
    uint64_t order; /* set by air_add */
    enum fly_kind kind;
    uint32_t node, peer;
    uint32_t era;  /* of the link */
    uint16_t link; /* or input */
    uint32_t stream;
    uint32_t cookie; /* or bytes */
    uint64_t seq;
    struct ov_buf *buf;
};

struct air {
    struct fly *heap; /* owned */
    size_t count, cap;
    uint64_t order;
};

void air_fini(struct air *air);

/* The first adds a new thing; the second puts one back that was taken before,
 * in its order. */
void air_add(struct air *air, struct fly fly);
void air_put_back(struct air *air, struct fly fly);

/* Takes the first thing that is due by then; false: there is none. */
bool air_take(struct air *air, uint64_t now_ns, struct fly *fly);

#endif
