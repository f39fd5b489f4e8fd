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
    EP_ESCROW_SERVES, /* the escrow has a client */
    /* The client has left. The output in this escrow is given back once the
     * output in all escrows before it was given back. */
    EP_ESCROW_LEFT,
    /* The escrow is empty, and only kept to say which output its client has
     * got. */
    EP_ESCROW_DONE,
};

/* The store of one client. The client gets the redirected packets with numbers
 * from `since` to before `until` instead of the console. A client whose escrow
 * is DONE got only those before `acknowledged`. When a record goes to several
 * clients, its packets have the same numbers in each of their stores. */
struct ep_escrow {
    struct ep_escrow *next;
    struct ep_escrows *all;
    struct ep_escrow_cfg cfg;
    struct ep_hoard *hoard; /* owned; NULL when the escrow is DONE */
    uint32_t kept_blocks;   /* additional blocks in memory, see escrow.h */
    struct ep_escrow_packet *rest,
        **last;          /* owned: packets that follow those in the hoard */
    uint64_t rest_bytes; /* the size of the packets in `rest` */
    enum ep_escrow_state state;
    uint64_t since, until, acknowledged; /* The numbers of packets that `struct
                                          * ep_escrow` explains above. */
    unsigned
        piece; /* the index of the latest packet within its record, from 0 */
    uint64_t sent, taken; /* how many messages were sent, and how many
                           * acknowledged */
    /* messages yet to be given back that the client may have read */
    uint64_t unsure;
    uint64_t twice_bytes; /* bytes given back that the client may have read */
    uint64_t held_bytes;  /* redirected bytes in the store, at most */
    uint64_t copy_bytes;  /* bytes of the messages that wait */
    uint32_t next_bytes;  /* the size of the next message */
    /* when the client last took something, or when the escrow was last empty */
    int64_t moved_ms;
    /* Since when packets would have to be written to the file; 0 when they need
     * not be. */
    int64_t saving_ms;
    bool is_behind_due, is_settled;
};

struct ep_escrows {
    struct ep_escrows_cfg cfg;
    /* owned: for the loop's next turn, and for waiting */
    struct event *turn, *tick;
    bool is_awaited; /* records are held back for some client */
    /* Owned: first the escrows with a client, then those whose clients have
     * left, in the order in which they left. */
    struct ep_escrow *first;
    uint64_t records; /* how many records were redirected so far */
    uint64_t moved;
    uint64_t lost_bytes; /* bytes lost because memory was out, and not reported
                          * yet */
    unsigned out; /* packets given back that the console has not accepted yet */
    uint32_t kept_blocks; /* the additional blocks of all hoards together */
};

void ep_escrows_soon(const struct ep_escrows *all);
/* Removes the escrow from the list. */
void ep_escrow_unlink(struct ep_escrow *escrow);
void ep_escrow_free(struct ep_escrow *escrow);
/* Removes the first packet of `rest`. */
void ep_escrow_drop_rest(struct ep_escrow *escrow);
/* Reports that these bytes cannot be read from the file; errno says why. */
void ep_escrow_note_lost(const struct ep_escrow *escrow, uint32_t bytes);
/* Calls the caller's functions that are due, and gives back some packets. To be
 * called from the event loop. */
void ep_escrows_turn(struct ep_escrows *all);

#endif
