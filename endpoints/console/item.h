/* An item is what waits in the console: a record in hand, or a part of the
 * spool.
 *
 * An item in hand is one record whose bytes lie in the caller's buffer. A
 * spooled item stands for records whose bytes lie in the spool: either one
 * record that begins or ends inside a line (it may be wanted before its turn),
 * or a run of records of any sources that all consist of whole lines.
 *
 * Bytes that belong to progress bars are not written
 * (endpoints/console/bar_set.h): an item then has a text, which is written in
 * their place, and is written only from from_bytes to to_bytes.
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
    struct ep_item *next; /* next item of the list that this one is in */
    struct ep_item *prev;
    struct ep_item *next_same; /* next waiting piece of the same source */
    /* NULL: begins and ends at the beginning of a line */
    struct ep_source *source;
    struct ep_item *run; /* the spooled item that holds its bytes */
    const uint8_t *mem;  /* borrowed; NULL while spooled */
    struct text_origin origin;
    uint64_t cookie;
    /* In the outlet: the item is written when the outlet has written this many
     * bytes in all. */
    uint64_t end_bytes;
    uint64_t payload_bytes;
    struct ep_spool_ref ref; /* its bytes in the spool, when spooled */
    uint32_t records;        /* number of records that it stands for */
    /* for a run: number of its items that are still in the outlet */
    uint32_t users;
    uint32_t proc;      /* the source is this process with origin's channel */
    uint32_t len_bytes; /* number of bytes at `mem` */
    uint32_t from_bytes, to_bytes;
    uint32_t text_bytes;
    /* Written before all else, and at most EP_ITEM_TEXT_MAX bytes long. Owned
     * by items that are not part of a run. NULL: there is none. */
    uint8_t *text;
    bool is_bar;     /* some of its bytes belong to bars */
    bool is_eof;     /* the channel ends after it */
    bool is_opening; /* the line of its source is unfinished after it */
    bool is_spooled;
};

enum { EP_ITEM_TEXT_MAX = 8 * 1024 };

/* Items that are not in use. All zero: there are none. */
struct ep_item_pool {
    struct ep_item *free; /* owned */
};

/* Returns a zeroed item, or NULL when memory is out. */
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
    if (item->run == NULL)
        free(item->text);
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
