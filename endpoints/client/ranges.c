/* The ranges that a message of the door lists. */
#include "endpoints/client/ranges.h"

#include <stdlib.h>

/* Makes room for one more range. */
static bool grow_set(struct topo_ranges *set, uint32_t max)
{
    const uint32_t more = set->max > 0 ? 2 * set->max : 1;
    struct topo_range *items;

    if (set->count < set->max)
        return true;
    if (set->count >= max)
        return false;
    items = realloc(set->items, more * sizeof(*items));
    if (items == NULL)
        return false;
    set->items = items;
    set->max = more;
    return true;
}

static bool add_range(struct topo_ranges *set, struct topo_range range,
                      struct topo_range within, uint32_t max)
{
    const bool is_behind =
        set->count == 0 || range.first > set->items[set->count - 1].last;

    return is_behind && range.first >= within.first &&
           range.last <= within.last && grow_set(set, max) &&
           topo_ranges_add(set, range) == 0;
}

bool ep_ranges_read(struct topo_ranges *set, struct ov_rd rest,
                    struct topo_range within, uint32_t max)
{
    while (ov_rd_left(&rest) > 0) {
        struct topo_range range;

        range.first = ov_rd_u32(&rest);
        range.last = ov_rd_u32(&rest);
        if (!add_range(set, range, within, max))
            return false;
    }
    return true;
}

void ep_ranges_clear(struct topo_ranges *set)
{
    free(set->items);
    *set = (struct topo_ranges){.items = NULL};
}
