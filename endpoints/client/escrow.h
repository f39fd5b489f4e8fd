/* Stores for output that clients get instead of the console, until they
 * acknowledge it.
 *
 * The output for such a client is kept in a store of its own (sys/hoard.h),
 * sent from there, and forgotten when the client acknowledges it. When the
 * client leaves, the output that it has not acknowledged is given back to the
 * console, in order, and before anything newer of the same channels: the caller
 * holds back new records of a channel as long as ep_escrows_return() is true
 * for it. Output that another client also gets, or has got, instead of the
 * console is not given back. To know this, each redirected record has a number,
 * and each store knows the numbers of its first record and of its last.
 *
 * A client that gets copies of output, which the console shows, too, may also
 * have a store, so that more can wait for the client than fits into memory.
 *
 * New records are held back for a client only while the client takes something
 * within each patience_ms: for a client that redirects, when its store has
 * reached its limit; for a client that gets copies, when EP_ESCROW_PACE_BYTES
 * wait for it. Nothing is held back for a client that stands still. Before
 * output of a redirecting client is written to the store's file, records are
 * held back for a moment, because the client may only lack a processor, and the
 * file costs more than the wait.
 *
 * Memory: kept_blocks blocks for each of the first two redirecting clients; for
 * each client a hoard, one record, and the ranges that it names; and
 * EP_ESCROW_COPIES_BYTES for each client that gets copies. A file is as large
 * as its client's limit at most.
 */
#ifndef ENDPOINTS_CLIENT_ESCROW_H
#define ENDPOINTS_CLIENT_ESCROW_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/ranges.h"

struct ep_escrow;
struct ep_escrows;
struct ep_writer;
struct event_base;
struct job_record;

struct ep_escrows_cfg {
    struct event_base *base; /* borrowed, like the writer */
    struct ep_writer *writer;
    /* How long records are held back while the client takes nothing; the
     * launcher uses EP_ESCROW_PATIENCE_MS. */
    unsigned patience_ms;
    /* How many blocks each of the first two redirecting clients keeps in
     * memory, in addition to those of every hoard; the launcher uses
     * EP_ESCROW_KEPT_BLOCKS. */
    unsigned kept_blocks;
    /* Takes a piece of output that is given back. The record is valid within
     * the call, and ep_escrows_took_back() must follow later. Returns false
     * when the piece cannot be taken; then it is lost. This and all functions
     * below are called from the event loop. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* All output of some channels has been given back, or a store has room
     * again. */
    void (*on_change)(void *arg);
    /* A client has reached its limit: from now on the console gets the output,
     * and the client gets copies. */
    void (*on_behind)(void *arg);
    /* This many bytes are lost, because the file cannot be read (errno `err`)
     * or because memory was out (`err` is 0). */
    void (*on_lost)(void *arg, uint64_t bytes, int err);
    /* All output of a client that has left was given back. The client had been
     * sent `bytes` of it, and may have read them as well. */
    void (*on_twice)(void *arg, uint64_t bytes);
    void *arg;
};

/* What one client wants: output of the processes base to base + size - 1. */
struct ep_escrow_cfg {
    uint8_t channels;    /* the output channels, 1 << channel each */
    uint32_t base, size; /* the first process, and how many there are */
    /* The processes that the client names (ep_ranges); empty for all. The
     * escrow frees them, also when it cannot be opened. */
    struct topo_ranges ranges;
    uint64_t limit_bytes; /* the most bytes that the file may have */
    /* The client gets copies only: every message is EP_ESCROW_COPY, is
     * forgotten once ep_escrow_pass() is called for it, and is never given
     * back. */
    bool is_copy;
    /* The store has something to send. Called from the event loop. */
    void (*on_ready)(void *arg);
    void *arg;
};

enum {
    /* How many bytes of copies may wait in memory while the file cannot take
     * them. */
    EP_ESCROW_COPIES_BYTES = 4 << 20,
    /* How many bytes of copies may wait for a client that reads; further
     * records are then held back. So the job writes as fast as the client
     * reads, and no file is needed. What the client's own reader is too slow
     * for, the client has to keep. */
    EP_ESCROW_PACE_BYTES = 512 << 10,
    EP_ESCROW_PATIENCE_MS = 1000,
    /* Room for everything that a tool's helper was sent and has not
     * acknowledged yet. */
    EP_ESCROW_KEPT_BLOCKS = 14,
};

enum ep_escrow_what {
    EP_ESCROW_COPY,  /* The console gets the packet, too, or the packet is not
                      * output. */
    EP_ESCROW_FIRST, /* the first part of a record that only the client gets */
    EP_ESCROW_MORE,  /* a further part of the same record */
};

/* Opens the stores, without a client. Returns NULL when memory is out. */
struct ep_escrows *ep_escrows_open(const struct ep_escrows_cfg *cfg);
/* Closes the stores, none of which may have a client. Output that was not given
 * back is lost: returns how many bytes that is at most. NULL is fine. */
uint64_t ep_escrows_close(struct ep_escrows *all);

/* Counts a redirected record, before the record is put into the stores of all
 * clients that want it. */
void ep_escrows_record(struct ep_escrows *all);
/* Tells whether output of the channel has yet to be given back. O(clients that
 * have left). */
bool ep_escrows_return(const struct ep_escrows *all, uint32_t number,
                       uint8_t channel);
/* Notes that the console has accepted one piece of output that was given to
 * on_back. */
void ep_escrows_took_back(struct ep_escrows *all);
/* Tells whether all output was given back and accepted. */
bool ep_escrows_are_back(const struct ep_escrows *all);
/* Returns how many packets were acknowledged or given back so far, so that a
 * caller sees whether anything moves. */
uint64_t ep_escrows_moved(const struct ep_escrows *all);

/* Opens the store of a client. Returns 0, OV_ENOMEM or OV_ESYS; *out is set
 * only when it returns 0. */
int ep_escrow_open(struct ep_escrows *all, const struct ep_escrow_cfg *cfg,
                   struct ep_escrow **out);
/* To be called when the client leaves; the caller must not use the escrow
 * afterwards. Output that the client has not acknowledged is given back to the
 * console by on_back, from the event loop. NULL is fine. */
void ep_escrow_leave(struct ep_escrow *escrow);

/* Redirects the client's channels from the next record on. Further calls change
 * nothing. */
void ep_escrow_begin(struct ep_escrow *escrow);
/* Tells whether the client still gets output instead of the console, as it has
 * not reached its limit. */
bool ep_escrow_redirects(const struct ep_escrow *escrow);

/* Tells whether a record can be put into the store now. If not, on_change is
 * called when it can: at the latest when the client has taken nothing for
 * patience_ms. O(1). */
bool ep_escrow_has_room(struct ep_escrow *escrow);
/* Puts in a message: a head, and the bytes that follow it. Returns 0 or
 * OV_EFULL. EP_ESCROW_MORE is never refused. After ep_escrow_has_room() was
 * true, EP_ESCROW_FIRST is refused only when the limit is reached and the
 * client has taken nothing for patience_ms. O(bytes). */
int ep_escrow_put(struct ep_escrow *escrow, enum ep_escrow_what what,
                  const uint8_t *head, uint32_t head_bytes, const uint8_t *mem,
                  uint32_t len_bytes);

/* Gives the next message to send, which is valid until ep_escrow_pass() says
 * that it was sent. Returns false when there is none now. */
bool ep_escrow_next(struct ep_escrow *escrow, const uint8_t **mem,
                    uint32_t *len_bytes);
void ep_escrow_pass(struct ep_escrow *escrow);
/* Notes that the client acknowledges this many messages, counted from the first
 * one that it was sent. Returns false when it was not sent that many. */
bool ep_escrow_taken(struct ep_escrow *escrow, uint64_t messages);
/* Notes that the client has read none of the messages that it has not
 * acknowledged, and will not read them. */
void ep_escrow_settle(struct ep_escrow *escrow);
/* Tells whether every message was acknowledged. */
bool ep_escrow_is_empty(const struct ep_escrow *escrow);

#endif
