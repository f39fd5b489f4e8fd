/* What the files of escrow.h share, and what escrow_back.c has for escrow.c. */
#ifndef ENDPOINTS_CLIENT_ESCROW_IMPL_H
#define ENDPOINTS_CLIENT_ESCROW_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "endpoints/client/escrow.h"

struct ep_hoard;

/* What finds no room in the hoard for the moment. */
struct ep_escrow_packet {
    struct ep_escrow_packet *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

enum ep_escrow_state {
    EP_ESCROW_SERVES, /* a client */
    EP_ESCROW_LEFT,   /* what it has goes back when its turn comes */
    EP_ESCROW_DONE, /* it has nothing, and only says what its client has had */
};

/* A client has had, or will have, the redirected packets from `since` to before
 * `until`; one that is done had those to before `acknowledged`. Packets of one
 * record that goes to several clients have the same numbers in each. */
struct ep_escrow {
    struct ep_escrow *next;
    struct ep_escrows *all;
    struct ep_escrow_cfg cfg;
    struct ep_hoard *hoard; /* owned; NULL when it is done */
    uint32_t kept_blocks;   /* beside the usual ones */
    struct ep_escrow_packet *rest,
        **last;          /* owned: behind what is in the hoard; */
    uint64_t rest_bytes; /* so many */
    enum ep_escrow_state state;
    uint64_t since, until, acknowledged; /* numbers */
    unsigned piece;                      /* of the record that is put */
    uint64_t sent, taken;                /* messages */
    uint64_t unsure; /* of those that go back: the client may have read them, */
    uint64_t twice_bytes; /* so much by now */
    uint64_t held_bytes;  /* redirected since it was empty, at most */
    uint64_t copy_bytes;  /* that wait, of copies, */
    uint32_t next_bytes;  /* and of the next message */
    int64_t moved_ms;     /* it took something, or was empty, last */
    int64_t saving_ms;    /* what it has not taken goes to the file; 0: no */
    bool is_behind_due, is_settled;
};

struct ep_escrows {
    struct ep_escrows_cfg cfg;
    struct event *turn, *tick; /* owned */
    bool is_awaited;           /* records wait for one of them */
    /* Owned: those with a client, then the others in the order in which their
     * clients have left. */
    struct ep_escrow *first;
    uint64_t records; /* redirected so far */
    uint64_t moved;
    uint64_t lost_bytes;  /* for want of memory; to be told */
    unsigned out;         /* went back, and are not on their way yet */
    uint32_t kept_blocks; /* of all hoards */
};

void ep_escrows_soon(const struct ep_escrows *all);
/* It is none of them any more. */
void ep_escrow_unlink(struct ep_escrow *escrow);
void ep_escrow_free(struct ep_escrow *escrow);
/* The first one of `rest`. */
void ep_escrow_drop_rest(struct ep_escrow *escrow);
/* Cannot be read; errno says why. */
void ep_escrow_note_lost(const struct ep_escrow *escrow, uint32_t bytes);
/* Tells what is to be told, and gives back some packets. From the loop. */
void ep_escrows_turn(struct ep_escrows *all);

#endif
