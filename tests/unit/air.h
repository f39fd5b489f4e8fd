/* The events that are on their way in a little world, ordered by time.
 *
 * A heap. Events of the same time keep the order in which they were added.
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

/* An event that will happen to a node. */
struct fly {
    uint64_t due_ns;
    uint64_t order; /* set by air_add */
    enum fly_kind kind;
    uint32_t node, peer;
    uint32_t era;  /* the era of the link */
    uint16_t link; /* the number of a link, or of an input */
    uint32_t stream;
    uint32_t cookie; /* a cookie, or a number of bytes */
    uint64_t seq;
    struct ov_buf *buf;
};

struct air {
    struct fly *heap; /* owned */
    size_t count, cap;
    uint64_t order;
};

void air_fini(struct air *air);

/* air_add() adds a new event; air_put_back() puts an event back that was taken
 * before, at its old place in the order. */
void air_add(struct air *air, struct fly fly);
void air_put_back(struct air *air, struct fly fly);

/* Takes the first event that is due by then; false: there is none. */
bool air_take(struct air *air, uint64_t now_ns, struct fly *fly);

#endif
