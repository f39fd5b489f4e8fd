/* A small hash table of objects by number. Keys are compared and never
 * dereferenced, so a stale key is harmless. */
#include "tests/provider/strict.h"

static size_t slot_of(uintptr_t key)
{
    uint64_t mixed = (uint64_t)key * 0x9E3779B97F4A7C15u;

    return (size_t)(mixed >> 56);
}

void strict_set_add(struct strict_set *set, struct strict_link *link,
                    const void *key, void *value)
{
    size_t slot = slot_of((uintptr_t)key);

    link->key = (uintptr_t)key;
    link->value = value;
    link->next = set->slots[slot];
    set->slots[slot] = link;
}

void strict_set_del(struct strict_set *set, struct strict_link *link)
{
    struct strict_link **at = &set->slots[slot_of(link->key)];

    while (*at != NULL && *at != link)
        at = &(*at)->next;
    if (*at != NULL)
        *at = link->next;
}

void *strict_set_find(const struct strict_set *set, const void *key)
{
    const struct strict_link *link = set->slots[slot_of((uintptr_t)key)];

    while (link != NULL && link->key != (uintptr_t)key)
        link = link->next;
    return link == NULL ? NULL : link->value;
}

_Static_assert(STRICT_SLOTS == 256, "slot_of() gives eight bits");
