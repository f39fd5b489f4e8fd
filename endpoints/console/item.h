/* What waits in the console: a record in hand, or a stretch of the spool.
 *
 * An item in hand is one record whose bytes lie in the caller's buffer. A
 * spooled item stands for records whose bytes lie in the spool: either one
 * record that begins or ends inside a line (it may be wanted before its turn),
 * or a run of records of any sources that all consist of whole lines.
 */
#ifndef ENDPOINTS_CONSOLE_ITEM_H
#define ENDPOINTS_CONSOLE_ITEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "endpoints/sys/spool.h"
#include "text/style.h"

struct ep_source;

struct ep_item {
    struct ep_item *next; /* of the list it is in */
    struct ep_item *prev;
    struct ep_item *next_same; /* of its source's pieces that wait */
    struct ep_source *source;  /* NULL when it begins and ends between lines */
    struct ep_item *run;       /* the spooled item that has its bytes */
    const uint8_t *mem;        /* borrowed; NULL while spooled */
    struct text_origin origin;
    uint64_t cookie;
    /* In the outlet: it is written when this many bytes are. */
    uint64_t end_bytes;
    uint64_t payload_bytes;
    struct ep_spool_ref ref; /* when spooled */
    uint32_t records;        /* how many it stands for */
    uint32_t users;          /* of a run: items still in the outlet */
    uint32_t proc;           /* with the channel: its source */
    uint32_t len_bytes;      /* of mem */
    bool is_eof;             /* the channel ends with it */
    bool is_opening;         /* its source's line is open after it */
    bool is_spooled;
};

/* Items that are not in use. Zeroed: none. */
struct ep_item_pool {
    struct ep_item *free; /* owned */
};

/* A zeroed item, or NULL when memory is out. */
static inline struct ep_item *ep_item_get(struct ep_item_pool *pool)
{
    struct ep_item *item = pool->free;

    if (item == NULL)
        return calloc(1, sizeof(*item));
    pool->free = item->next;
    *item = (struct ep_item){.next = NULL};
    return item;
}

static inline void ep_item_put(struct ep_item_pool *pool, struct ep_item *item)
{
    item->next = pool->free;
    pool->free = item;
}

static inline void ep_item_pool_fini(struct ep_item_pool *pool)
{
    while (pool->free != NULL) {
        struct ep_item *item = pool->free;

        pool->free = item->next;
        free(item);
    }
}

#endif
