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
    OV_MEMBER_ABSENT,    /* not beneath us */
    OV_MEMBER_CONFIRMED, /* we answer for it */
    OV_MEMBER_LOST,      /* declared by the root, for ever */
};

struct ov_member {
    uint64_t attach;
    uint64_t accepted; /* by the root, of its records */
    uint64_t taken;    /* by the root's sinks */
    uint32_t node;     /* TOPO_NONE: empty entry */
    uint32_t parent;
    uint32_t next;  /* in the list of acknowledgements due */
    uint32_t ask;   /* its own asks that wait for an answer; OV_NONE: none */
    uint16_t place; /* OV_NO_PLACE unless confirmed */
    uint16_t asks;  /* in how many waiting asks it is claimed */
    uint8_t state;  /* enum ov_member_state */
    bool is_ack_due : 1;
    bool is_known : 1;     /* root: has been confirmed once */
    bool is_missing : 1;   /* a question about it waits */
    bool is_marked : 1;    /* within a function */
    bool is_addressed : 1; /* the driver knows where it listens, */
    bool is_refused : 1;   /* and nobody does there any more, as we see it, */
    bool is_seconded : 1;  /* and somebody else */
};

_Static_assert(sizeof(struct ov_member) <= 48, "ov_member outgrew its budget");

#define OV_NONE UINT32_MAX /* no entry of a table */

/* A list of members, linked by `next`. */
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

/* Puts a member at the end of a list of acknowledgements due, once. */
void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member);

/* Takes the first member off a list; NULL when empty. */
struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list);

#endif
