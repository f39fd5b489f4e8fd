/* The nodes that a node answers for, and the acknowledgements on their way to
 * them.
 *
 * A hash table by node number, with one entry per node of the planned subtree;
 * its memory is part of the node's. An entry names the place through which the
 * member is reached and has the newest acknowledgement for it, so that of all
 * acknowledgements that wait for a busy link only the newest is sent.
 */
#ifndef OVERLAY_MEMBERS_H
#define OVERLAY_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ov_member_state {
    OV_MEMBER_ABSENT,    /* not beneath this node */
    OV_MEMBER_CONFIRMED, /* this node answers for it */
    OV_MEMBER_LOST,      /* declared lost by the root, which is final */
};

struct ov_member {
    uint64_t attach;
    uint64_t accepted; /* how many of its records the root has accepted */
    uint64_t taken;    /* how many the root's sinks have taken */
    uint32_t node;     /* TOPO_NONE: empty entry */
    uint32_t parent;
    uint32_t next;  /* next in a list of acknowledgements that are due */
    uint32_t ask;   /* its own asks that wait for an answer, a list; OV_NONE:
                       none */
    uint16_t place; /* OV_NO_PLACE unless confirmed */
    uint16_t asks;  /* how many waiting asks claim it */
    uint8_t state;  /* enum ov_member_state */
    bool is_ack_due : 1;
    bool is_known : 1;     /* root: was confirmed at least once */
    bool is_missing : 1;   /* a question about it waits */
    bool is_marked : 1;    /* used within one function */
    bool is_addressed : 1; /* the driver knows where it listens, */
    bool is_refused : 1;   /* its address refuses our dials, */
    bool is_seconded : 1;  /* and the dials of a second witness */
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
    uint32_t room;           /* how many members it may hold */
    uint32_t count;
};

/* How many entries a table for `room` members needs: a power of two. */
uint32_t ov_members_entries(uint32_t room);

void ov_members_init(struct ov_members *members, struct ov_member *table,
                     uint32_t room);

/* O(1) expected. NULL when absent. */
struct ov_member *ov_members_find(const struct ov_members *members,
                                  uint32_t node);

/* Finds or adds a member; NULL when the table is full, and for TOPO_NONE. */
struct ov_member *ov_members_add(struct ov_members *members, uint32_t node);

static inline uint32_t ov_members_index(const struct ov_members *members,
                                        const struct ov_member *member)
{
    return (uint32_t)(member - members->table);
}

/* Adds a member to the end of a list of due acknowledgements, unless it is due
 * already. */
void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member);

/* Removes the first member of a list; NULL when it is empty. */
struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list);

#endif
