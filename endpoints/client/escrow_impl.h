/* What escrow.c and escrow_back.c share. */
#ifndef ENDPOINTS_CLIENT_ESCROW_IMPL_H
#define ENDPOINTS_CLIENT_ESCROW_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "endpoints/client/escrow.h"

struct ep_hoard;

/* A packet for which the hoard has no room at the moment. */
struct ep_escrow_packet {
    struct ep_escrow_packet *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

enum ep_escrow_state {
    EP_ESCROW_SERVES, /* it has a client */
    /* Its client has gone, and what it holds goes back when its turn comes. */
    EP_ESCROW_LEFT,
    /* It holds nothing, and is only kept to say what its client has had. */
    EP_ESCROW_DONE,
};

/* The client has had, or will have, the redirected packets with numbers from
 * `since` to before `until`; a client of a DONE escrow has had those before
 * `acknowledged`. The packets of a record that goes to several clients have the
 * same numbers in each of their stores. */
struct ep_escrow {
    struct ep_escrow *next;
    struct ep_escrows *all;
    struct ep_escrow_cfg cfg;
    struct ep_hoard *hoard; /* owned; NULL when it is done */
    uint32_t kept_blocks;   /* in memory, beside the usual ones */
    struct ep_escrow_packet *rest,
        **last;          /* owned: packets behind those in the hoard */
    uint64_t rest_bytes; /* of the packets in `rest` */
    enum ep_escrow_state state;
    uint64_t since, until, acknowledged; /* numbers */
    unsigned piece;       /* the part of the current record that is being put */
    uint64_t sent, taken; /* counts of messages */
    uint64_t unsure; /* messages going back that the client may have read */
    uint64_t twice_bytes; /* bytes of these that went back so far */
    uint64_t held_bytes;  /* redirected since it was empty, at most */
    uint64_t copy_bytes;  /* of copies that wait */
    uint32_t next_bytes;  /* of the next message */
    int64_t moved_ms; /* when its client last took something, or it was empty */
    int64_t saving_ms; /* since when it would write to its file; 0: not now */
    bool is_behind_due, is_settled;
};

struct ep_escrows {
    struct ep_escrows_cfg cfg;
    struct event *turn, *tick; /* owned */
    bool is_awaited;           /* records wait for one of these clients */
    /* Owned: first the escrows with a client, then those whose clients have
     * left, in the order in which they left. */
    struct ep_escrow *first;
    uint64_t records; /* redirected so far */
    uint64_t moved;
    uint64_t lost_bytes; /* for want of memory, not yet told */
    unsigned out; /* packets that went back and are not on their way yet */
    uint32_t kept_blocks; /* of all hoards together */
};

void ep_escrows_soon(const struct ep_escrows *all);
/* Takes the escrow out of the list. */
void ep_escrow_unlink(struct ep_escrow *escrow);
void ep_escrow_free(struct ep_escrow *escrow);
/* Removes the first packet of `rest`. */
void ep_escrow_drop_rest(struct ep_escrow *escrow);
/* Tells that these bytes cannot be read from the file; errno says why. */
void ep_escrow_note_lost(const struct ep_escrow *escrow, uint32_t bytes);
/* Tells the caller what is due, and gives back some packets. Called from the
 * loop. */
void ep_escrows_turn(struct ep_escrows *all);

#endif
