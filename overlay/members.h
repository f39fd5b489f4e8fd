/* The nodes that a node answers for, and what is on its way to them.
 *
 * A table with one entry per node of the planned subtree (room is taken at
 * init), found by number. An entry names the place through which the node is
 * reached and carries the acknowledgement that was last heard for it, so that
 * acknowledgements waiting for a busy link are reduced to the newest.
 */
#ifndef OVERLAY_MEMBERS_H
#define OVERLAY_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ov_member_state {
    OV_MEMBER_ABSENT,    /* not known here */
    OV_MEMBER_TENTATIVE, /* its ask is on the way */
    OV_MEMBER_CONFIRMED,
};

/* What has to be told about a member. */
enum ov_member_due {
    OV_DUE_ASK = 1,    /* to the parent */
    OV_DUE_ANSWER = 2, /* down its place */
    OV_DUE_ACK = 4,    /* down its place */
};

struct ov_member {
    uint64_t attach;
    uint64_t accepted; /* by the root, of its records */
    uint64_t taken;    /* by the root's sinks */
    uint32_t node;     /* TOPO_NONE: empty entry */
    uint32_t parent;
    uint32_t next; /* in its place's list of things due */
    uint32_t next_ask;
    uint16_t place; /* OV_NO_PLACE: it went with the link to it */
    uint8_t state;  /* enum ov_member_state */
    uint8_t due;    /* bits of enum ov_member_due */
    uint8_t reason; /* of the answer due, enum ov_refuse_reason */
};

_Static_assert(sizeof(struct ov_member) <= 48, "ov_member outgrew its budget");

#define OV_NO_MEMBER UINT32_MAX

/* A list of members, linked by `next` or `next_ask`. */
struct ov_member_list {
    uint32_t first;
    uint32_t last;
};

struct ov_members {
    struct ov_member *table; /* borrowed from the node's memory */
    uint32_t mask;           /* entries - 1 */
    uint32_t room;           /* members it may hold */
    uint32_t count;
};

/* Entries needed for `room` members: a power of two. */
uint32_t ov_members_entries(uint32_t room);

void ov_members_init(struct ov_members *members, struct ov_member *table,
                     uint32_t room);

/* O(1) expected. NULL when absent. */
struct ov_member *ov_members_find(const struct ov_members *members,
                                  uint32_t node);

/* Finds or adds; NULL when the table is full, and for TOPO_NONE. */
struct ov_member *ov_members_add(struct ov_members *members, uint32_t node);

static inline uint32_t ov_members_index(const struct ov_members *members,
                                        const struct ov_member *member)
{
    return (uint32_t)(member - members->table);
}

/* Marks something due and puts the member at the end of the list that serves
 * it, once: `asks` for OV_DUE_ASK, its place's list for the others. */
void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member, enum ov_member_due due);

/* Takes the first member off a list; NULL when empty. Its due bits for that
 * list are the caller's to clear. */
struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list, bool is_asks);

#endif
