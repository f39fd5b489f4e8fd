/* Keeps output that the tool has already received of a job whose output comes
 * without a pull: the first and the last bytes of each channel, for a pull of
 * the tool that asks for earlier output.
 *
 * These bytes are owed to such a pull, and paid to it in pieces, channel by
 * channel. Which bytes of a channel the pull gets is fixed when the first piece
 * of the channel is paid; from then to the last piece nothing may be added to
 * that channel. The pieces go to the pull alone, and are not added to the
 * history again.
 *
 * Not thread-safe. Memory: that of the pool (sys/cache.h), 72 bytes for each
 * channel of all processes, 64 for each channel that is owed, and one piece.
 */
#ifndef PMIX_API_HELPER_HISTORY_H
#define PMIX_API_HELPER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct ep_cache_pool;
struct px_history;

enum {
    PX_HISTORY_POOL_BYTES = 16 << 20, /* memory for the kept bytes of all jobs
                                         of a tool */
    PX_HISTORY_PIECE_BYTES = 32 << 10,
};

struct px_history_cfg {
    uint32_t procs;
    /* How many of the first bytes of each channel are kept, and how many of the
     * last. */
    uint32_t room_bytes;
    struct ep_cache_pool *pool; /* borrowed */
};

/* A pull's request for earlier output of a process. */
struct px_history_claim {
    uint32_t owner; /* the number of the pull */
    uint32_t rank;
    uint8_t channels;   /* bits, 1 << channel; no pull may be owed one of these
                           channels already */
    uint64_t max_bytes; /* the most bytes to pay of each channel */
    bool is_last;       /* the pull wants the last bytes, not the first */
};

enum px_history_step {
    PX_HISTORY_NOTHING, /* nothing is owed to any pull */
    PX_HISTORY_PIECE,   /* *out is the next piece */
    PX_HISTORY_PAID,    /* the channel that *out names has been paid in full */
};

/* Returns 0 or OV_ENOMEM. */
int px_history_open(const struct px_history_cfg *cfg, struct px_history **out);
/* Here and below `past` may be NULL: a history that keeps nothing and owes
 * nothing. */
void px_history_close(struct px_history *past);

/* Adds a piece that the tool has received, after all earlier pieces of its
 * channel. When the piece is the end of the channel, all kept bytes of the
 * channel are dropped. O(bytes). */
void px_history_add(struct px_history *past, const struct px_lib_output *piece);

/* Notes that what `claim` asks for is owed to its pull. Returns 0; or
 * OV_ENOMEM, and then only some of its channels may be owed. O(channels). */
int px_history_owe(struct px_history *past,
                   const struct px_history_claim *claim);
/* Forgets everything that is owed to this pull. O(channels owed). */
void px_history_forget(struct px_history *past, uint32_t owner);
/* The channels of a process that are owed to a pull, as bits. O(1). */
uint8_t px_history_owes(const struct px_history *past, uint32_t rank);
/* True when nothing is owed to any pull. O(1). */
bool px_history_is_paid(const struct px_history *past);

/* Pays the next piece of the channel that has been owed longest; *out names the
 * channel. The bytes of the piece are valid until the next call; *out also says
 * how many bytes are missing before them. O(bytes). */
enum px_history_step px_history_pay(struct px_history *past,
                                    struct px_lib_output *out);

#endif
