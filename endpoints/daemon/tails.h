/* Unfinished lines of a daemon's processes: in memory that all of them
 * node_job, and, where that is full, in a file without a name.
 *
 * A tail is the part of a line that a channel has while the newline is still to
 * come. Its bytes lie in small chunks of the memory. When there is no room for
 * another line of the largest size, the tails that have been open longest go to
 * the file, each to a place of its own, up to half of the memory at a time. A
 * channel that has something to add waits meanwhile, and so does its process,
 * on a full pipe. A tail can be saved in several parts, and comes back as one.
 * The thread of all stores of the daemon makes, writes and reads the file: the
 * event loop waits for nothing.
 *
 * When the file cannot be made, written or read, no tail is saved until half of
 * the memory is free again.
 *
 * Bounds: the memory, besides that EP_TAILS_READS + 1 times EP_TAIL_BYTES_MAX,
 * and a file of EP_TAIL_BYTES_MAX for each line that is in it at the same time.
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
    EP_TAILS_READS = 4, /* tails that are read back and not taken yet */
};

/* All zero is empty; the owner then sets the functions. */
struct ep_tail {
    TAILQ_ENTRY(ep_tail) entry; /* in the list of tails that may be saved */
    TAILQ_ENTRY(ep_tail) turn;  /* in the list of tails that wait */
    void (*on_change)(void *arg);
    void *arg;
    struct ep_chain chain;
    uint32_t file_bytes;  /* bytes in the file, before those of the chain */
    uint32_t taken_bytes; /* bytes of these that were taken */
    uint32_t place;       /* place in the file, when file_bytes > 0 */
    uint8_t waits;        /* enum tail_wait */
    uint8_t slot;         /* slot for reading, from 1 on; 0: it has none */
    bool is_listed, is_saving;
};

struct ep_tails_cfg {
    struct ep_writer *writer; /* borrowed, outlives it */
    const char *dir;          /* as for ep_spool_file_init */
    uint32_t bytes;           /* of all tails in memory */
    /* Nothing more can be saved, for this errno (ENOTSUP: the file's folder
     * lies in memory). Called from the event loop; may be NULL. */
    void (*on_failed)(void *arg, int err);
    void *arg;
};

enum ep_tails_room {
    EP_TAILS_ROOM, /* there is room for a whole line */
    EP_TAILS_WAIT, /* on_change follows */
    EP_TAILS_FULL, /* use the rest of the memory: the file cannot be used */
};

/* Opens the memory; makes no file yet. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_tails_open(const struct ep_tails_cfg *cfg, struct ep_tails **out);

/* Closes it; all tails must be empty. NULL is fine. */
void ep_tails_close(struct ep_tails *tails);

/* Says whether something may be added to this tail. O(1) when there is room. */
enum ep_tails_room ep_tails_room(struct ep_tails *tails, struct ep_tail *tail);

/* Adds to a tail that need not wait. Returns false when the memory is full, and
 * then nothing is changed; after EP_TAILS_ROOM it is not full for
 * EP_TAIL_BYTES_MAX. */
bool ep_tail_add(struct ep_tails *tails, struct ep_tail *tail,
                 const uint8_t *src, uint32_t len_bytes);

/* Reads the tail back from the file, as far as it is there. Returns 0: all of
 * it can be taken; OV_EAGAIN: on_change follows; or OV_ESYS with errno: what
 * was in the file is lost, *lost bytes, and the rest can be taken. */
int ep_tail_fetch(struct ep_tails *tails, struct ep_tail *tail, uint32_t *lost);

/* Moves the tail's first len_bytes to dst; a tail that is not in memory alone
 * must have been fetched. */
void ep_tail_take(struct ep_tails *tails, struct ep_tail *tail, uint8_t *dst,
                  uint32_t len_bytes);

/* Says that the tail will not be taken soon, so that others can be fetched in
 * its place. on_change does not follow. */
void ep_tail_rest(struct ep_tails *tails, struct ep_tail *tail);

/* Drops all that the tail has; on_change does not follow. */
void ep_tail_drop(struct ep_tails *tails, struct ep_tail *tail);

/* The first counts a line that goes in pieces for want of room; the second
 * returns how many did. */
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
