/* Packets on their way to one client: sent at once where its socket takes them,
 * else kept in memory until it does, in order.
 *
 * Output has a limit, for the client and for all that share a pool; but a
 * little finds room whatever others keep, so that each is told when there is
 * room for more. Words have EP_OUTBOX_WORDS_BYTES beside that.
 *
 * All in the loop's thread; no call blocks.
 */
#ifndef ENDPOINTS_CLIENT_OUTBOX_H
#define ENDPOINTS_CLIENT_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "job/door.h"

struct ep_outbox;
struct event_base;

enum {
    EP_OUTBOX_WORDS_BYTES = 64 * 1024,
    EP_OUTBOX_LEAST_BYTES = 128 * 1024, /* of each, however full the pool is */
};

/* What all of them keep together. */
struct ep_outbox_pool {
    uint64_t used_bytes, limit_bytes;
    uint64_t sent; /* packets that were kept before */
};

struct ep_outbox_cfg {
    struct event_base *base; /* borrowed, as all */
    int fd;
    uint64_t limit_bytes;
    struct ep_outbox_pool *pool;
    /* All that was kept is sent; from the loop. */
    void (*on_empty)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_outbox_open(const struct ep_outbox_cfg *cfg, struct ep_outbox **out);
/* Drops what is kept. NULL is fine. */
void ep_outbox_close(struct ep_outbox *box);

/* A packet of output: a head and, where there are some, bytes behind it.
 * Returns 0; or OV_EFULL, and it is not taken. Whoever has left is told
 * nothing, and that is no error. O(bytes). */
int ep_outbox_put(struct ep_outbox *box, const void *head, uint32_t head_bytes,
                  const void *mem, uint32_t len_bytes);
/* A word: a message without a rest. Whoever reads too few of them misses
 * some. */
void ep_outbox_say(struct ep_outbox *box, const struct job_door *msg);
bool ep_outbox_is_empty(const struct ep_outbox *box);
/* What is kept. */
uint64_t ep_outbox_bytes(const struct ep_outbox *box);

#endif
