/* Items of one descriptor that wait while the line of another source is open.
 *
 * They are kept in the order in which they came: in hand (the caller's buffer
 * stays pinned) or, when spilled, in the spool. Items are spilled from the
 * front on, so those in hand always follow those in the spool. A spilled piece
 * of an unfinished line is an item of its own, because it may be wanted before
 * its turn; whole lines join the run before them, so that small records in the
 * spool take no memory.
 */
#ifndef ENDPOINTS_CONSOLE_PARK_H
#define ENDPOINTS_CONSOLE_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/item.h"
#include "endpoints/console/source.h"
#include "endpoints/sys/spool.h"

/* most items in the spool: 5 MiB of memory */
enum { EP_PARK_SPOOLED_MAX = 32768 };

struct ep_park {
    struct ep_item *first;
    struct ep_item *last;
    struct ep_item *first_hand; /* the first item that is not spooled */
    struct ep_sources sources;
    struct ep_item_pool *pool; /* borrowed */
    struct ep_spool *spool;    /* owned by the caller; NULL: there is none */
    uint64_t hand_bytes;
    uint32_t hand_count;
    uint32_t spooled_count; /* number of items in the spool */
};

void ep_park_init(struct ep_park *park, struct ep_item_pool *pool);

/* Ends a park, which must be empty. */
void ep_park_fini(struct ep_park *park);

/* Adds an item in hand at the end. O(1). */
void ep_park_push(struct ep_park *park, struct ep_item *item);

/* Removes an item from the park. It must be the first of all, or the first of
 * its source. O(1). */
void ep_park_take(struct ep_park *park, struct ep_item *item);

/* Copies the first item in hand to the spool. On success the caller's buffer is
 * free, and *cookie is its record's cookie. Returns 0, OV_ENOENT (no item is in
 * hand), or what ep_spool_put returns; OV_EFULL also at EP_PARK_SPOOLED_MAX. */
int ep_park_spill(struct ep_park *park, uint64_t *cookie);

/* Reads the bytes of a spooled item into memory, before it is taken out.
 * Returns what ep_spool_get() returns. */
int ep_park_fetch(struct ep_park *park, struct ep_item *item);

/* Returns the next record of a fetched item, from *at_bytes on, as an item of
 * its own whose `run` is the fetched one. Returns NULL at the end, or when
 * memory is out (*at_bytes is then below the end). */
struct ep_item *ep_park_next(struct ep_park *park, struct ep_item *run,
                             uint32_t *at_bytes);

#endif
