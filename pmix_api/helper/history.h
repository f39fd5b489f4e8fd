/* What the tool has already had of a job whose output comes without a pull: the
 * first and the last bytes of each channel, for a pull of the tool that asks
 * for earlier output.
 *
 * Such a pull is owed these bytes, channel by channel. What it gets of a
 * channel is chosen when its first piece is paid; from then to the last piece
 * nothing may be added to that channel. The pieces go to the pull alone, and
 * are not added again.
 *
 * Not thread-safe. Memory: that of the pool (sys/cache.h), 72 bytes for each
 * channel of all processes, 64 for each channel that is owed, and a piece.
 */
#ifndef PMIX_API_HELPER_HISTORY_H
#define PMIX_API_HELPER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct ep_cache_pool;
struct px_history;

enum {
    PX_HISTORY_POOL_BYTES = 16 << 20, /* for all jobs of a tool */
    PX_HISTORY_PIECE_BYTES = 32 << 10,
};

struct px_history_cfg {
    uint32_t procs;
    /* Room of each channel for its first bytes, and for its last ones. */
    uint32_t room_bytes;
    struct ep_cache_pool *pool; /* borrowed */
};

/* The earlier output of a process that a pull asks for. */
struct px_history_claim {
    uint32_t owner; /* the pull's number */
    uint32_t rank;
    uint8_t channels;   /* bits, 1 << channel; none of them is owed yet */
    uint64_t max_bytes; /* of each channel */
    bool is_last;       /* wants the last bytes, not the first */
};

enum px_history_step {
    PX_HISTORY_NOTHING, /* nothing is owed */
    PX_HISTORY_PIECE,   /* *out is the next piece */
    PX_HISTORY_PAID,    /* all of the channel named in *out was given */
};

/* Returns 0 or OV_ENOMEM. */
int px_history_open(const struct px_history_cfg *cfg, struct px_history **out);
/* NULL is fine, here and below: then nothing is kept and nothing is owed. */
void px_history_close(struct px_history *past);

/* Adds a piece that the tool has got, behind all earlier ones of its channel.
 * At the end of a channel all that is kept of it is dropped. O(bytes). */
void px_history_add(struct px_history *past, const struct px_lib_output *piece);

/* Returns 0; or OV_ENOMEM, and then a part may be owed. O(channels). */
int px_history_owe(struct px_history *past,
                   const struct px_history_claim *claim);
/* Forgets all that this pull is owed. O(what is owed). */
void px_history_forget(struct px_history *past, uint32_t owner);
/* The channels of a process of which something is owed; bits. O(1). */
uint8_t px_history_owes(const struct px_history *past, uint32_t rank);
/* True when nothing is owed to any pull. O(1). */
bool px_history_is_paid(const struct px_history *past);

/* Goes on with the channel that has been owed longest, and names it in *out. A
 * piece has bytes that are valid until the next call, and says how many are
 * missing before them. O(bytes). */
enum px_history_step px_history_pay(struct px_history *past,
                                    struct px_lib_output *out);

#endif
