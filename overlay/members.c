/* The table of members: a hash table with open addressing and linear probing,
 * from which entries are never removed. */
#include "overlay/members.h"

#include "overlay/base/panic.h"
#include "topo/tree.h"

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
        return; /* a leaf has no table */
    for (uint32_t i = 0; i <= members->mask; i++)
        table[i] = (struct ov_member){.node = TOPO_NONE};
}

/* Finds the entry of a node, or the empty entry where it would be put. */
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
    *member =
        (struct ov_member){.node = node, .ask = OV_NONE, .place = UINT16_MAX};
    return member;
}

void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member)
{
    uint32_t index = ov_members_index(members, member);

    if (member->is_ack_due)
        return;
    member->is_ack_due = true;
    member->next = OV_NONE;
    if (list->first == OV_NONE)
        list->first = index;
    else
        members->table[list->last].next = index;
    list->last = index;
}

struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list)
{
    struct ov_member *member;

    if (list->first == OV_NONE)
        return NULL;
    member = &members->table[list->first];
    list->first = member->next;
    member->is_ack_due = false;
    return member;
}
