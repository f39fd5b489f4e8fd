/* Open lines of a daemon's processes: in memory that all of them share, and
 * where that is full in a file without a name.
 *
 * A tail is what a channel has of a line whose newline is still to come. Its
 * bytes lie in small chunks of the memory. When there is not room for one more
 * line of the largest size, those that have been open longest go to the file,
 * each to a place of its own, up to half of the memory at a time. Whoever has
 * something to add waits meanwhile, and so does its process, on a full pipe. A
 * tail can be saved in several parts, and comes back in one. The file is made,
 * written and read by a thread, that of all stores of the daemon: the event
 * loop waits for nothing.
 *
 * Where the file cannot be made, written or read no more tails are saved until
 * half of the memory is free again.
 *
 * Bounds: the memory, EP_TAILS_READS + 1 times EP_TAIL_BYTES_MAX beside it, and
 * a file of EP_TAIL_BYTES_MAX for each line that is in it at the same time.
 */
#ifndef ENDPOINTS_DAEMON_TAILS_H
#define ENDPOINTS_DAEMON_TAILS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "endpoints/daemon/chunks.h"

struct ep_tails;
struct ep_writer;

enum {
    EP_TAIL_BYTES_MAX = 64 * 1024,
    EP_TAILS_READS = 4, /* tails that are back from the file, not yet taken */
};

/* Zeroed it is empty; the functions are then set by its owner. */
struct ep_tail {
    TAILQ_ENTRY(ep_tail) entry; /* of those that may be saved */
    TAILQ_ENTRY(ep_tail) turn;  /* of those that wait */
    void (*on_change)(void *arg);
    void *arg;
    struct ep_chain chain;
    uint32_t file_bytes;  /* before those of the chain, in the file */
    uint32_t taken_bytes; /* of these: gone */
    uint32_t place;       /* in the file, where file_bytes > 0 */
    uint8_t waits;        /* enum tail_wait */
    uint8_t slot;         /* of those for reads, from 1 on; 0: it has none */
    bool is_listed, is_saving;
};

struct ep_tails_cfg {
    struct ep_writer *writer; /* borrowed, outlives it */
    const char *dir;          /* as of ep_spool_file_init */
    uint32_t bytes;           /* of all tails in memory */
    /* Nothing more can be saved, an errno (ENOTSUP: the places for the file lie
     * in memory). From the event loop; may be NULL. */
    void (*on_failed)(void *arg, int err);
    void *arg;
};

enum ep_tails_room {
    EP_TAILS_ROOM, /* for a whole line */
    EP_TAILS_WAIT, /* on_change follows */
    EP_TAILS_FULL, /* for the rest of the memory: the file cannot be used */
};

/* Makes no file. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_tails_open(const struct ep_tails_cfg *cfg, struct ep_tails **out);

/* All tails are empty. NULL is fine. */
void ep_tails_close(struct ep_tails *tails);

/* May something be added to this tail? O(1) where there is room. */
enum ep_tails_room ep_tails_room(struct ep_tails *tails, struct ep_tail *tail);

/* Adds to a tail that need not wait. False when the memory is full, which it is
 * not after EP_TAILS_ROOM for EP_TAIL_BYTES_MAX: nothing is changed then. */
bool ep_tail_add(struct ep_tails *tails, struct ep_tail *tail,
                 const uint8_t *src, uint32_t len_bytes);

/* Gets it back from the file, as far as it is there. Returns 0: all of it can
 * be taken; OV_EAGAIN: on_change follows; or OV_ESYS with errno: what was in
 * the file is lost, *lost bytes, the rest can be taken. */
int ep_tail_fetch(struct ep_tails *tails, struct ep_tail *tail, uint32_t *lost);

/* Moves its first len_bytes to dst; of one that was fetched, if it is not in
 * memory alone. */
void ep_tail_take(struct ep_tails *tails, struct ep_tail *tail, uint8_t *dst,
                  uint32_t len_bytes);

/* It will not be taken soon: others may be fetched in its place. on_change does
 * not come any more. */
void ep_tail_rest(struct ep_tails *tails, struct ep_tail *tail);

/* Drops all that it has; on_change does not come any more. */
void ep_tail_drop(struct ep_tails *tails, struct ep_tail *tail);

/* A line goes in pieces for want of room; and how many did. */
void ep_tails_count_cut(struct ep_tails *tails);
uint64_t ep_tails_cuts(const struct ep_tails *tails);

static inline bool ep_tail_is_in_memory(const struct ep_tail *tail)
{
    return tail->file_bytes == 0 && !tail->is_saving;
}

static inline uint32_t ep_tail_bytes(const struct ep_tail *tail)
{
    return tail->file_bytes - tail->taken_bytes + tail->chain.len_bytes;
}

#endif
