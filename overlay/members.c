/* Open addressing with linear probing; entries are never removed. */
#include "overlay/members.h"

#include "overlay/base/panic.h"
#include "topo/tree.h"

enum { DUE_DOWN = OV_DUE_ANSWER | OV_DUE_ACK };

uint32_t ov_members_entries(uint32_t room)
{
    uint64_t want = (uint64_t)room + room / 2 + 1;
    uint64_t entries = 1;

    while (entries < want)
        entries *= 2;
    return (uint32_t)entries;
}

void ov_members_init(struct ov_members *members, struct ov_member *table,
                     uint32_t room)
{
    members->table = table;
    members->room = room;
    members->count = 0;
    members->mask = ov_members_entries(room) - 1;
    if (room == 0)
        return; /* no table */
    for (uint32_t i = 0; i <= members->mask; i++)
        table[i] = (struct ov_member){.node = TOPO_NONE};
}

/* The entry of node, or the empty one where it would stand. */
static struct ov_member *probe(const struct ov_members *members, uint32_t node)
{
    uint32_t at = node * 2654435769u;

    at ^= at >> 15;
    for (;; at++) {
        struct ov_member *member = &members->table[at & members->mask];

        if (member->node == node || member->node == TOPO_NONE)
            return member;
    }
}

struct ov_member *ov_members_find(const struct ov_members *members,
                                  uint32_t node)
{
    struct ov_member *member;

    if (members->room == 0 || node == TOPO_NONE)
        return NULL;
    member = probe(members, node);
    return member->node == node ? member : NULL;
}

struct ov_member *ov_members_add(struct ov_members *members, uint32_t node)
{
    struct ov_member *member;

    if (members->room == 0 || node == TOPO_NONE)
        return NULL;
    member = probe(members, node);
    if (member->node == node)
        return member;
    if (members->count == members->room)
        return NULL;
    members->count++;
    member->node = node;
    return member;
}

void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member, enum ov_member_due due)
{
    uint32_t index = ov_members_index(members, member);
    bool is_ask = due == OV_DUE_ASK;
    uint8_t kinds = is_ask ? OV_DUE_ASK : DUE_DOWN;
    bool listed = (member->due & kinds) != 0;
    uint32_t *next = is_ask ? &member->next_ask : &member->next;

    member->due = (uint8_t)(member->due | due);
    if (listed)
        return;
    *next = OV_NO_MEMBER;
    if (list->first == OV_NO_MEMBER) {
        list->first = index;
    } else {
        struct ov_member *last = &members->table[list->last];

        *(is_ask ? &last->next_ask : &last->next) = index;
    }
    list->last = index;
}

struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list, bool is_asks)
{
    struct ov_member *member;

    if (list->first == OV_NO_MEMBER)
        return NULL;
    member = &members->table[list->first];
    list->first = is_asks ? member->next_ask : member->next;
    return member;
}
