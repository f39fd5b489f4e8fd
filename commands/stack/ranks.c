/* Sets of ranks that grow. */
#include "commands/stack/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

#define MORE ",..."

enum { ITEMS_MIN = 2, SHOWN_BYTES = 56 };

void *stack_room_grow(struct stack_room *room, void *mem, size_t had_bytes,
                      size_t bytes)
{
    void *grown;

    if (bytes - had_bytes > room->left_bytes)
        return NULL;
    grown = realloc(mem, bytes);
    if (grown != NULL)
        room->left_bytes -= bytes - had_bytes;
    return grown;
}

static int make_room(struct topo_ranges *set, struct stack_room *room)
{
    const uint32_t max = set->max > 0 ? 2 * set->max : ITEMS_MIN;
    struct topo_range *items =
        stack_room_grow(room, set->items, set->max * sizeof(*set->items),
                        max * sizeof(*set->items));

    if (items == NULL)
        return OV_ENOMEM;
    set->items = items;
    set->max = max;
    return 0;
}

int stack_ranks_add(struct topo_ranges *set, uint32_t rank,
                    struct stack_room *room)
{
    const struct topo_range range = {rank, rank};

    int rc = topo_ranges_add(set, range);

    if (rc != OV_EFULL)
        return rc;
    return make_room(set, room) == 0 ? topo_ranges_add(set, range) : OV_ENOMEM;
}

void stack_ranks_free(struct topo_ranges *set)
{
    free(set->items);
    *set = (struct topo_ranges){.items = NULL};
}

char *stack_ranks_whole(const struct topo_ranges *set)
{
    const size_t size = topo_ranges_format(set, NULL, 0) + 1;
    char *text = malloc(size);

    if (text != NULL)
        topo_ranges_format(set, text, size);
    return text;
}

void stack_ranks_text(const struct topo_ranges *set,
                      char text[STACK_RANKS_BYTES])
{
    const uint32_t count = topo_ranges_size(set);
    char shown[SHOWN_BYTES + sizeof(MORE)];

    if (topo_ranges_format(set, shown, SHOWN_BYTES) >= SHOWN_BYTES) {
        char *comma = strrchr(shown, ',');

        /* The last number may be cut off. */
        if (comma != NULL)
            memcpy(comma, MORE, sizeof(MORE));
    }
    if (count == 1)
        snprintf(text, STACK_RANKS_BYTES, "rank %s", shown);
    else
        snprintf(text, STACK_RANKS_BYTES, "ranks %s (%" PRIu32 ")", shown,
                 count);
}
