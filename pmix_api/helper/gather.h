/* Gathers small pieces of output into larger ones for the tool. The bytes of a
 * channel are released when there are enough of them, when they have been held
 * long enough, or at the channel's end. Where whole lines are wanted, bytes are
 * released only up to the end of a line, and a newline is added at the end of
 * the channel if it has none. A released piece ends without a newline only when
 * output is missing after it, when its line is too long, or when it was held
 * for the longest time allowed.
 *
 * The output of one channel keeps its order; but output of different channels
 * may be reordered. Memory: 48 bytes for each channel of all processes, and at
 * most PX_GATHER_HELD_BYTES. Pure; the caller passes the time.
 */
#ifndef PMIX_API_HELPER_GATHER_H
#define PMIX_API_HELPER_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_gather;

enum {
    PX_GATHER_HELD_BYTES = 4 << 20,
    PX_GATHER_PIECE_BYTES = 128 * 1024, /* the most bytes of one piece */
};

enum px_gather_verdict {
    PX_GATHER_HELD,
    PX_GATHER_GOES,  /* deliver *out; all of the piece was handled */
    PX_GATHER_FIRST, /* deliver *out, then call px_gather_put() again with the
                        same piece */
};

struct px_gather_cfg {
    uint32_t procs;
    /* Gather this many bytes of a channel, though no more than fit into one
     * delivery; 0: do not gather. */
    uint64_t size_bytes;
    uint64_t time_ms; /* hold bytes no longer than this; 0: without a limit */
    bool has_lines;
};

/* Returns 0 or OV_ENOMEM. */
int px_gather_open(const struct px_gather_cfg *cfg, struct px_gather **out);
/* Drops the bytes that are held. NULL is fine. O(channels). */
void px_gather_close(struct px_gather *gather);

/* Adds a piece. *out borrows memory of the piece, or memory that is valid until
 * the next call. O(bytes). */
enum px_gather_verdict px_gather_put(struct px_gather *gather,
                                     const struct px_lib_output *piece,
                                     uint64_t now_ms,
                                     struct px_lib_output *out);
/* Releases, in *out, bytes of one channel that have been held long enough or,
 * with `all`, the bytes that have been held longest. False: there are no such
 * bytes. O(1). */
bool px_gather_get(struct px_gather *gather, uint64_t now_ms, bool all,
                   struct px_lib_output *out);

/* Names in *out the channel whose bytes have been held longest, without the
 * bytes. False: nothing is held. O(1). */
bool px_gather_peek(const struct px_gather *gather, struct px_lib_output *out);
/* Releases, in *out, the bytes that are held of a channel. False: none are
 * held. O(1). */
bool px_gather_take(struct px_gather *gather, uint32_t rank, uint16_t channel,
                    struct px_lib_output *out);

/* The time at which px_gather_get() will release bytes; 0: never. O(1). */
uint64_t px_gather_due_ms(const struct px_gather *gather);
/* True when no bytes are held. O(1). */
bool px_gather_is_empty(const struct px_gather *gather);

#endif
