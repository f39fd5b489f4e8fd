/* A binary heap of events that are on their way: see air.h. */
#include "tests/unit/air.h"

#include <stdlib.h>

void air_fini(struct air *air)
{
    free(air->heap);
    *air = (struct air){0};
}

static bool is_before(const struct fly *a, const struct fly *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

void air_put_back(struct air *air, struct fly fly)
{
    size_t at = air->count++;

    if (air->count > air->cap) {
        air->cap = air->cap == 0 ? 64 : 2 * air->cap;
        air->heap = realloc(air->heap, air->cap * sizeof(*air->heap));
        if (air->heap == NULL)
            abort();
    }
    for (; at > 0; at = (at - 1) / 2) {
        struct fly *parent = &air->heap[(at - 1) / 2];

        if (is_before(parent, &fly))
            break;
        air->heap[at] = *parent;
    }
    air->heap[at] = fly;
}

void air_add(struct air *air, struct fly fly)
{
    fly.order = ++air->order;
    air_put_back(air, fly);
}

bool air_take(struct air *air, uint64_t now_ns, struct fly *fly)
{
    struct fly last;
    size_t at = 0;

    if (air->count == 0 || air->heap[0].due_ns > now_ns)
        return false;
    *fly = air->heap[0];
    last = air->heap[--air->count];
    while (2 * at + 1 < air->count) {
        size_t child = 2 * at + 1;

        if (child + 1 < air->count &&
            is_before(&air->heap[child + 1], &air->heap[child]))
            child++;
        if (is_before(&last, &air->heap[child]))
            break;
        air->heap[at] = air->heap[child];
        at = child;
    }
    if (air->count > 0)
        air->heap[at] = last;
    return true;
}
