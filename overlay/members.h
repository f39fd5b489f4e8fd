/* The members of a node: the nodes beneath it, for which it answers, and the
 * newest acknowledgement for each.
 *
 * A hash table by node number, with one entry per node of the planned subtree;
 * its memory is part of the node's. An entry names the place through which the
 * member is reached, and has the newest acknowledgement for the member: when
 * several acknowledgements wait for a busy link, only the newest is sent.
 */
#ifndef OVERLAY_MEMBERS_H
#define OVERLAY_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ov_member_state {
    OV_MEMBER_ABSENT,    /* the member is not beneath this node */
    OV_MEMBER_CONFIRMED, /* the member is beneath this node, which reports the
                            member's bases and records to its own parent */
    OV_MEMBER_LOST,      /* the root has declared the member lost, which is
                            final */
};

struct ov_member {
    uint64_t attach;
    uint64_t accepted; /* how many records of the member the root has
                          accepted */
    uint64_t taken;    /* how many records of the member the root's sinks have
                          taken */
    uint32_t node;     /* TOPO_NONE: empty entry */
    uint32_t parent;
    uint32_t next;  /* next member in a list of due acknowledgements */
    uint32_t ask;   /* first of the asks that wait for an answer and whose
                       claiming node is this member; OV_NONE when there is no
                       such ask */
    uint16_t place; /* place through which the member is reached; OV_NO_PLACE
                       unless it is confirmed */
    uint16_t asks;  /* how many of all waiting asks claim this member */
    uint8_t state;  /* enum ov_member_state */
    bool is_ack_due : 1;
    bool is_known : 1;     /* root: the member was confirmed at least once */
    bool is_missing : 1;   /* a question about the member (MISSING) waits to be
                              sent */
    bool is_marked : 1;    /* a temporary mark; not set between steps */
    bool is_addressed : 1; /* the driver knows where the member listens */
    bool is_refused : 1;   /* the member's address refuses our dials */
    bool is_seconded : 1;  /* a second witness has been refused by the member's
                              address, too */
};

_Static_assert(sizeof(struct ov_member) <= 48, "ov_member outgrew its budget");

#define OV_NONE UINT32_MAX /* index that stands for no entry of a table */

/* A list of members, linked by `next`. */
struct ov_member_list {
    uint32_t first;
    uint32_t last;
};

struct ov_members {
    struct ov_member *table; /* [entries] borrowed from the node's memory */
    uint32_t mask;           /* entries - 1 */
    uint32_t room;           /* how many members the table may hold */
    uint32_t count;
};

/* How many entries a table for `room` members needs: a power of two. */
uint32_t ov_members_entries(uint32_t room);

void ov_members_init(struct ov_members *members, struct ov_member *table,
                     uint32_t room);

/* Finds a member, or returns NULL. O(1) expected. */
struct ov_member *ov_members_find(const struct ov_members *members,
                                  uint32_t node);

/* Finds a member, or adds it. NULL when the table is full, and when node is
 * TOPO_NONE. */
struct ov_member *ov_members_add(struct ov_members *members, uint32_t node);

static inline uint32_t ov_members_index(const struct ov_members *members,
                                        const struct ov_member *member)
{
    return (uint32_t)(member - members->table);
}

/* Adds a member to the end of a list of due acknowledgements, unless its
 * acknowledgement is due already. */
void ov_members_due(struct ov_members *members, struct ov_member_list *list,
                    struct ov_member *member);

/* Removes and returns the first member of a list; NULL when it is empty. */
struct ov_member *ov_members_pop(struct ov_members *members,
                                 struct ov_member_list *list);

#endif
