/* Adds records to a node's list of own records, and removes them. */
#include "overlay/kept.h"

#include <stddef.h>

void ov_kept_lend(struct ov_kept_pool *pool, struct ov_kept *cells,
                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cells[i].next = pool->free;
        pool->free = &cells[i];
    }
}

struct ov_kept *ov_kept_push(struct ov_kept_list *list,
                             struct ov_kept_pool *pool,
                             const struct ov_kept *record)
{
    struct ov_kept *cell = pool->free;

    OV_ASSERT(cell != NULL);
    pool->free = cell->next;
    *cell = *record;
    cell->next = NULL;
    if (list->first == NULL)
        list->first = cell;
    else
        list->last->next = cell;
    list->last = cell;
    return cell;
}

struct ov_kept ov_kept_pop(struct ov_kept_list *list, struct ov_kept_pool *pool)
{
    struct ov_kept *cell = list->first;
    struct ov_kept record;

    OV_ASSERT(cell != NULL);
    record = *cell;
    list->first = cell->next;
    cell->next = pool->free;
    pool->free = cell;
    return record;
}
