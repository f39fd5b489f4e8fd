/* Unfinished lines of a daemon's processes: in memory that all of them share,
 * and, where that is full, in a file without a name.
 *
 * A tail is the part of a line that a channel has read while the newline is
 * still to come. Its bytes lie in small chunks of the memory. When there is no
 * room for another line of the largest size, the tails that have been open
 * longest are saved in the file, each at a place of its own, until up to half
 * of the memory is free. Meanwhile a channel that has bytes to add waits, and
 * so does its process, on a full pipe. A tail can be saved in several parts,
 * and comes back as a whole. The thread of all stores of the daemon makes,
 * writes and reads the file: the event loop waits for nothing.
 *
 * When the file cannot be made, written or read, no tail is saved until half of
 * the memory is free again.
 *
 * Bounds: the memory, in addition EP_TAILS_READS + 1 times EP_TAIL_BYTES_MAX,
 * and a file with EP_TAIL_BYTES_MAX for each line that is in it at the same
 * time.
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
    /* tails that were read back but not yet taken, at most */
    EP_TAILS_READS = 4,
};

/* An all-zero tail is empty; the owner then sets on_change and arg. */
struct ep_tail {
    TAILQ_ENTRY(ep_tail) entry; /* in the list of tails that may be saved */
    TAILQ_ENTRY(ep_tail) turn;  /* in the list of tails that wait */
    void (*on_change)(void *arg);
    void *arg;
    struct ep_chain chain;
    /* bytes in the file, which come before those of the chain */
    uint32_t file_bytes;
    uint32_t taken_bytes; /* how many of file_bytes were taken already */
    uint32_t place; /* index of its place in the file, when file_bytes > 0 */
    uint8_t waits;  /* enum tail_wait */
    uint8_t slot;   /* slot into which it is read back, from 1 on; 0: none */
    bool is_listed, is_saving;
};

struct ep_tails_cfg {
    struct ep_writer *writer; /* borrowed, outlives the tails */
    const char *dir;          /* folder of the file, as in ep_spool_file_init */
    uint32_t bytes;           /* size of the memory for all tails */
    /* No tail can be saved any longer, because of this errno (ENOTSUP: the
     * file's folder lies in memory). Called from the event loop; may be
     * NULL. */
    void (*on_failed)(void *arg, int err);
    void *arg;
};

enum ep_tails_room {
    EP_TAILS_ROOM, /* there is room for a whole line */
    EP_TAILS_WAIT, /* there is no room now; on_change follows */
    EP_TAILS_FULL, /* the file cannot be used: use the rest of the memory */
};

/* Opens the memory; makes no file yet. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_tails_open(const struct ep_tails_cfg *cfg, struct ep_tails **out);

/* Closes the memory and the file; all tails must be empty. NULL is fine. */
void ep_tails_close(struct ep_tails *tails);

/* Says whether bytes may be added to this tail now. O(1) when there is room. */
enum ep_tails_room ep_tails_room(struct ep_tails *tails, struct ep_tail *tail);

/* Adds bytes to a tail that need not wait. Returns false when the memory is
 * full, and then changes nothing. After EP_TAILS_ROOM there is room for
 * EP_TAIL_BYTES_MAX. */
bool ep_tail_add(struct ep_tails *tails, struct ep_tail *tail,
                 const uint8_t *src, uint32_t len_bytes);

/* Reads the tail's bytes in the file back. Returns 0: the whole tail can be
 * taken; OV_EAGAIN: call again after on_change; or OV_ESYS with errno: the
 * tail's *lost bytes in the file are lost, and the rest can be taken. */
int ep_tail_fetch(struct ep_tails *tails, struct ep_tail *tail, uint32_t *lost);

/* Moves the tail's first len_bytes to dst. A tail with bytes in the file must
 * have been fetched. */
void ep_tail_take(struct ep_tails *tails, struct ep_tail *tail, uint8_t *dst,
                  uint32_t len_bytes);

/* Says that the tail will not be taken soon, so that its slot can be used to
 * read another one back. on_change does not follow. */
void ep_tail_rest(struct ep_tails *tails, struct ep_tail *tail);

/* Drops all bytes of the tail; on_change does not follow. */
void ep_tail_drop(struct ep_tails *tails, struct ep_tail *tail);

/* The first counts a line that had to be given in pieces because there was no
 * room for it; the second returns how many were counted. */
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
