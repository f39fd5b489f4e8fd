/* What the tool has had of a job whose output comes to it by itself: the first
 * and the last bytes of each channel, for a pull of the tool that asks for what
 * was before it.
 *
 * Such a pull is owed them, by channel. What it gets of one is chosen with the
 * first piece that is paid: until the last one nothing of that channel may be
 * added. Pieces go to the pull alone, and are not added again.
 *
 * Not thread-safe. Memory: that of the pool (sys/cache.h), 72 bytes for each
 * channel of all processes, 64 for each that is owed, and a piece.
 */
#ifndef PMIX_API_HELPER_PAST_H
#define PMIX_API_HELPER_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct ep_cache_pool;
struct px_past;

enum {
    PX_PAST_POOL_BYTES = 16 << 20, /* of all jobs of a tool */
    PX_PAST_PIECE_BYTES = 32 << 10,
};

struct px_past_cfg {
    uint32_t procs;
    uint32_t room_bytes;        /* of each channel, first ones and last ones */
    struct ep_cache_pool *pool; /* borrowed */
};

/* What somebody wants of channels of a process. */
struct px_past_claim {
    uint32_t owner; /* whose it is */
    uint32_t rank;
    uint8_t channels;   /* bits, 1 << channel; nothing of these is owed */
    uint64_t max_bytes; /* of each */
    bool is_last;       /* the last bytes, not the first */
};

enum px_past_step {
    PX_PAST_NOTHING, /* is owed */
    PX_PAST_PIECE,   /* *out is the next one */
    PX_PAST_PAID,    /* all of the channel of *out was given */
};

/* Returns 0 or OV_ENOMEM. */
int px_past_open(const struct px_past_cfg *cfg, struct px_past **out);
/* NULL is fine, here and below: nothing is kept, and nothing is owed. */
void px_past_close(struct px_past *past);

/* The tool has this piece, behind all that was added of its channel; with its
 * end nothing of that is kept any more. O(bytes). */
void px_past_add(struct px_past *past, const struct px_lib_output *piece);

/* Returns 0, or OV_ENOMEM: some may be owed. O(channels). */
int px_past_owe(struct px_past *past, const struct px_past_claim *claim);
/* Nothing is owed to it any more. O(what is owed). */
void px_past_forget(struct px_past *past, uint32_t owner);
/* Channels of a process of which something is owed; bits. O(1). */
uint8_t px_past_owes(const struct px_past *past, uint32_t rank);
/* Whatever it is. O(1). */
bool px_past_is_paid(const struct px_past *past);

/* Goes on with what is owed for longest. *out names a channel; of a piece it
 * has bytes that are valid until the next call, and says how many are missing
 * before them. O(bytes). */
enum px_past_step px_past_pay(struct px_past *past, struct px_lib_output *out);

#endif
