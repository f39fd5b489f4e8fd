/* Output that clients take in the place of the console, until they say that
 * they have it.
 *
 * What goes to such a client lies in a store of its own (sys/hoard.h), is
 * sent from there, and is forgotten when the client acknowledges it. When the
 * client goes the rest goes back, in order, and before anything newer of those
 * channels: the caller lets records of them wait as long as ep_escrows_return()
 * says so. What another client has, or has had, in the place of the console
 * does not go back: each redirected record has a number, and each client those
 * from its first one on.
 *
 * A client that gets copies may have such a store, too, so that more can wait
 * for it than in memory.
 *
 * A client that takes something within each patience_ms is waited for: one that
 * redirects when its limit is reached, as a console would be, and one that gets
 * copies from EP_ESCROW_PACE_BYTES on. Nobody waits for one that stands still.
 * One that redirects is also waited for a moment before anything goes to the
 * file: it may only lack a processor, and a file costs more.
 *
 * Bounds: kept_blocks of two; of each client the memory of a hoard and a record
 * beside it, of one that gets copies EP_ESCROW_COPIES_BYTES; its limit of file,
 * and the ranges that it names.
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
    unsigned patience_ms; /* records wait so long for a client to take anything;
                             usual: EP_ESCROW_PATIENCE_MS */
    unsigned kept_blocks; /* of the spool, that each of the first two that
                             redirect has in memory beside the usual ones;
                             usual: EP_ESCROW_KEPT_BLOCKS */
    /* Goes back; borrowed within the call, ep_escrows_took_back() follows.
     * False: it cannot, and is lost. From the loop, as all of these. */
    bool (*on_back)(void *arg, const struct job_record *rec);
    /* Nothing more comes back of some channels, or there is room again. */
    void (*on_change)(void *arg);
    /* A client has reached its limit: it gets copies from then on. */
    void (*on_behind)(void *arg);
    /* So many bytes cannot be read from the file, for that errno; or are lost
     * for want of memory (0). */
    void (*on_lost)(void *arg, uint64_t bytes, int err);
    /* All of a client that has gone is back, and so many bytes of it that was
     * sent before, and may have read as well. */
    void (*on_twice)(void *arg, uint64_t bytes);
    void *arg;
};

/* What of the output of the processes from base on it is. */
struct ep_escrow_cfg {
    uint8_t channels;          /* bits, 1 << channel each */
    uint32_t base, size;       /* processes */
    struct topo_ranges ranges; /* ep_ranges; owned by the escrow from then on,
                                  also when it is not opened; empty: all */
    uint64_t limit_bytes;      /* of the file */
    bool is_copy; /* all is COPY, nothing is acknowledged or goes back, and what
                     is passed is gone */
    /* There is something to send. From the loop. */
    void (*on_ready)(void *arg);
    void *arg;
};

enum {
    /* Copies that wait in memory while the file is behind. */
    EP_ESCROW_COPIES_BYTES = 4 << 20,
    /* Before more records are copied, a client that reads has read all but so
     * much: the job goes as fast as that process reads, which keeps what its
     * own reader is too slow for. It needs no file then. */
    EP_ESCROW_PACE_BYTES = 512 << 10,
    EP_ESCROW_PATIENCE_MS = 1000,
    /* What was sent to a tool's helper, and is not acknowledged yet, fits. */
    EP_ESCROW_KEPT_BLOCKS = 14,
};

enum ep_escrow_what {
    EP_ESCROW_COPY,  /* the console has it, too, or it is no output */
    EP_ESCROW_FIRST, /* of a record that is the client's alone */
    EP_ESCROW_MORE,  /* of the same record */
};

/* NULL: out of memory. */
struct ep_escrows *ep_escrows_open(const struct ep_escrows_cfg *cfg);
/* None of them has a client. What has not gone back is lost: returns how many
 * bytes that is at most. NULL is fine. */
uint64_t ep_escrows_close(struct ep_escrows *all);

/* Another redirected record is given to all that want it. */
void ep_escrows_record(struct ep_escrows *all);
/* Is output of the channel coming back? O(those that have left). */
bool ep_escrows_return(const struct ep_escrows *all, uint32_t number,
                       uint8_t channel);
/* One of on_back is on its way. */
void ep_escrows_took_back(struct ep_escrows *all);
/* Nothing is coming back. */
bool ep_escrows_are_back(const struct ep_escrows *all);
/* Packets that were acknowledged or went back: whether something moves. */
uint64_t ep_escrows_moved(const struct ep_escrows *all);

/* Opens the store of a client. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_escrow_open(struct ep_escrows *all, const struct ep_escrow_cfg *cfg,
                   struct ep_escrow **out);
/* The client goes: the caller is done with it, and what it has not acknowledged
 * goes back from the loop. NULL is fine. */
void ep_escrow_leave(struct ep_escrow *escrow);

/* From the next record on it has all that is redirected of its channels. Once
 * more it is harmless. */
void ep_escrow_begin(struct ep_escrow *escrow);
/* It takes what is redirected: its limit was not reached yet. */
bool ep_escrow_redirects(const struct ep_escrow *escrow);

/* Can a record be given to it now? Else on_change says when: at the latest when
 * the client has taken nothing for patience_ms. O(1). */
bool ep_escrow_has_room(struct ep_escrow *escrow);
/* A message: head, and bytes behind it. Returns 0; or OV_EFULL, but never for
 * MORE, and for FIRST, where it has room for a record, only when the limit is
 * reached and the client has taken nothing for patience_ms. O(bytes). */
int ep_escrow_put(struct ep_escrow *escrow, enum ep_escrow_what what,
                  const uint8_t *head, uint32_t head_bytes, const uint8_t *mem,
                  uint32_t len_bytes);

/* The next message to be sent, valid until it is passed. False: none now. */
bool ep_escrow_next(struct ep_escrow *escrow, const uint8_t **mem,
                    uint32_t *len_bytes);
void ep_escrow_pass(struct ep_escrow *escrow);
/* The client has so many of the messages passed to it, counted from the first
 * one. False: it cannot have. */
bool ep_escrow_taken(struct ep_escrow *escrow, uint64_t messages);
/* It has read none of the others, and will not. */
void ep_escrow_settle(struct ep_escrow *escrow);
/* All was acknowledged. */
bool ep_escrow_is_empty(const struct ep_escrow *escrow);

#endif
