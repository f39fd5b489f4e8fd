/* Stores for output that clients take instead of the console, until they
 * acknowledge it.
 *
 * The output for such a client lies in a store of its own (sys/hoard.h), is
 * sent from there, and is forgotten when the client acknowledges it. When the
 * client goes, the rest goes back in order, and before anything newer of the
 * same channels: the caller holds back new records of a channel as long as
 * ep_escrows_return() is true for it. Output that another client also has, or
 * has had, instead of the console does not go back: each redirected record has
 * a number, and each client has the numbers from its first one on.
 *
 * A client that gets copies may have such a store, too, so that more can wait
 * for it than fits into memory.
 *
 * Records wait for a client only if it takes something within each patience_ms:
 * for a client that redirects when its limit is reached, as they would for a
 * console, and for one that gets copies from EP_ESCROW_PACE_BYTES on. Nothing
 * waits for a client that stands still. Before anything of a redirecting client
 * goes to the file, records also wait for a moment: the client may only lack a
 * processor, and a file costs more.
 *
 * Bounds: kept_blocks for each of two clients; for each client the memory of a
 * hoard and one record, and for each that gets copies EP_ESCROW_COPIES_BYTES;
 * its limit for the file, and the ranges that it names.
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
    struct event_base *base; /* borrowed, as is the writer */
    struct ep_writer *writer;
    /* How long records wait for a client to take anything; usual:
     * EP_ESCROW_PATIENCE_MS. */
    unsigned patience_ms;
    /* Blocks of the spool that each of the first two redirecting clients has in
     * memory beside the usual ones; usual: EP_ESCROW_KEPT_BLOCKS. */
    unsigned kept_blocks;
    /* Takes output that goes back; it is borrowed within the call, and
     * ep_escrows_took_back() is to follow. False: it cannot be taken, and is
     * lost. Comes from the loop, as all of these do. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* Some channels have got back everything, or there is room again. */
    void (*on_change)(void *arg);
    /* A client has reached its limit: it gets copies from then on. */
    void (*on_behind)(void *arg);
    /* These bytes are lost, because the file cannot be read (errno `err`) or
     * memory was out (0). */
    void (*on_lost)(void *arg, uint64_t bytes, int err);
    /* Everything that a departed client had is back. So many bytes of it had
     * been sent to the client before, so it may have read them as well. */
    void (*on_twice)(void *arg, uint64_t bytes);
    void *arg;
};

/* What one client wants: output of the processes from base on. */
struct ep_escrow_cfg {
    uint8_t channels;    /* bits, 1 << channel each */
    uint32_t base, size; /* processes */
    /* Owned by the escrow (ep_ranges) from then on, also when it is not opened;
     * empty: all processes. */
    struct topo_ranges ranges;
    uint64_t limit_bytes; /* of the file */
    /* Everything is EP_ESCROW_COPY: nothing is acknowledged or goes back, and a
     * message that is passed is gone. */
    bool is_copy;
    /* The store has something to send. Comes from the loop. */
    void (*on_ready)(void *arg);
    void *arg;
};

enum {
    /* How many bytes of copies may wait in memory while the file is behind. */
    EP_ESCROW_COPIES_BYTES = 4 << 20,
    /* A client that reads must have read all but this much before more records
     * are copied for it. So the job goes as fast as the client reads, and the
     * client keeps what its own reader is too slow for. No file is needed
     * then. */
    EP_ESCROW_PACE_BYTES = 512 << 10,
    EP_ESCROW_PATIENCE_MS = 1000,
    /* Enough for everything that was sent to a tool's helper and is not
     * acknowledged yet. */
    EP_ESCROW_KEPT_BLOCKS = 14,
};

enum ep_escrow_what {
    EP_ESCROW_COPY,  /* the console has it, too, or it is not output */
    EP_ESCROW_FIRST, /* the first part of a record that only the client has */
    EP_ESCROW_MORE,  /* a further part of the same record */
};

/* Returns NULL when memory is out. */
struct ep_escrows *ep_escrows_open(const struct ep_escrows_cfg *cfg);
/* No store may still have a client. Output that has not gone back is lost:
 * returns how many bytes that is at most. NULL is fine. */
uint64_t ep_escrows_close(struct ep_escrows *all);

/* Counts a redirected record, which is about to be given to all clients that
 * want it. */
void ep_escrows_record(struct ep_escrows *all);
/* Tells whether output of the channel is coming back. O(clients that have
 * left). */
bool ep_escrows_return(const struct ep_escrows *all, uint32_t number,
                       uint8_t channel);
/* One piece of output given to on_back is on its way to the console. */
void ep_escrows_took_back(struct ep_escrows *all);
/* True when nothing is coming back. */
bool ep_escrows_are_back(const struct ep_escrows *all);
/* Counts packets that were acknowledged or went back, so that a caller sees
 * whether anything moves. */
uint64_t ep_escrows_moved(const struct ep_escrows *all);

/* Opens the store of a client. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_escrow_open(struct ep_escrows *all, const struct ep_escrow_cfg *cfg,
                   struct ep_escrow **out);
/* The client goes: the caller is done with the escrow, and what the client has
 * not acknowledged goes back, from the loop. NULL is fine. */
void ep_escrow_leave(struct ep_escrow *escrow);

/* From the next record on the client has everything that is redirected of its
 * channels. Repeating the call is harmless. */
void ep_escrow_begin(struct ep_escrow *escrow);
/* True while the client takes what is redirected, because it has not reached
 * its limit. */
bool ep_escrow_redirects(const struct ep_escrow *escrow);

/* Tells whether a record can be given to it now. If not, on_change says when:
 * at the latest once the client has taken nothing for patience_ms. O(1). */
bool ep_escrow_has_room(struct ep_escrow *escrow);
/* Puts in a message: a head, and bytes behind it. Returns 0 or OV_EFULL. MORE
 * is never refused; FIRST is refused, where there was room for a record, only
 * when the limit is reached and the client has taken nothing for patience_ms.
 * O(bytes). */
int ep_escrow_put(struct ep_escrow *escrow, enum ep_escrow_what what,
                  const uint8_t *head, uint32_t head_bytes, const uint8_t *mem,
                  uint32_t len_bytes);

/* Gives the next message to send, valid until it is passed. False: there is
 * none now. */
bool ep_escrow_next(struct ep_escrow *escrow, const uint8_t **mem,
                    uint32_t *len_bytes);
void ep_escrow_pass(struct ep_escrow *escrow);
/* The client acknowledges this number of messages, counted from the first one
 * passed to it. False: it was not sent that many. */
bool ep_escrow_taken(struct ep_escrow *escrow, uint64_t messages);
/* The client has read none of the others, and will not. */
void ep_escrow_settle(struct ep_escrow *escrow);
/* True when every message was acknowledged. */
bool ep_escrow_is_empty(const struct ep_escrow *escrow);

#endif
