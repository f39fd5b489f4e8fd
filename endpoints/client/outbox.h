/* Packets on their way to one client: a packet is sent at once when the
 * client's socket accepts it, and is otherwise kept in memory until it does.
 * Packets stay in order.
 *
 * The output that is kept has a limit for each client, and one for all clients
 * that share a pool. Each client may always keep EP_OUTBOX_LEAST_BYTES, however
 * much the others keep, so that it can be told later when there is room for
 * more. Messages without output may take EP_OUTBOX_WORDS_BYTES in addition.
 *
 * All calls are made in the loop's thread, and none blocks.
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
    /* The bytes that each client may keep, however full the pool is. */
    EP_OUTBOX_LEAST_BYTES = 256 * 1024,
};

/* The counts that all clients of a pool share. */
struct ep_outbox_pool {
    uint64_t used_bytes, limit_bytes;
    uint64_t sent; /* how many packets were sent after they had to be kept */
};

struct ep_outbox_cfg {
    struct event_base *base; /* borrowed, like all pointers here */
    int fd;
    uint64_t limit_bytes;
    struct ep_outbox_pool *pool;
    /* Called from the event loop when all packets that were kept are sent. */
    void (*on_empty)(void *arg);
    void *arg;
};

/* Returns 0 or OV_ENOMEM. */
int ep_outbox_open(const struct ep_outbox_cfg *cfg, struct ep_outbox **out);
/* Drops the packets that are kept. NULL is fine. */
void ep_outbox_close(struct ep_outbox *box);

/* Sends or keeps a packet of output: a head, and any bytes that follow it.
 * Returns 0; or OV_EFULL, and the packet is neither sent nor kept. A packet for
 * a client that has left is dropped, which is no error. O(bytes). */
int ep_outbox_put(struct ep_outbox *box, const void *head, uint32_t head_bytes,
                  const void *mem, uint32_t len_bytes);
/* Sends or keeps a message without output. When a client does not read its
 * messages, the newest ones are dropped. */
void ep_outbox_say(struct ep_outbox *box, const struct job_door *msg);
bool ep_outbox_is_empty(const struct ep_outbox *box);
/* Returns the size of the packets that are kept. */
uint64_t ep_outbox_bytes(const struct ep_outbox *box);

#endif
