/* Output that is put together before it goes to the tool. The bytes of a
 * channel go when there are enough of them, when they have been held long
 * enough, or at the channel's end; where whole lines are wanted, also only up
 * to the end of a line. What goes then ends with a newline, also at the end of
 * its channel. It does not where something is missing, where a line is too
 * long, or where it was held for the time that was asked for.
 *
 * The output of one channel keeps its order; output of different channels may
 * change places. Memory: 48 bytes for each channel of all processes, and at
 * most PX_GATHER_HELD_BYTES. Pure; the caller says the time.
 */
#ifndef PMIX_API_HELPER_GATHER_H
#define PMIX_API_HELPER_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_gather;

enum {
    PX_GATHER_HELD_BYTES = 4 << 20,
    PX_GATHER_PIECE_BYTES = 64 * 1024, /* the most that is put at once */
};

enum px_gather_verdict {
    PX_GATHER_HELD,
    PX_GATHER_GOES,  /* *out goes, with which the piece is done */
    PX_GATHER_FIRST, /* *out goes, then put the same piece once more */
};

struct px_gather_cfg {
    uint32_t procs;
    /* 0: nothing is put together. No more is put together than fits into one
     * delivery. */
    uint64_t size_bytes;
    uint64_t time_ms; /* 0: bytes are held however long it takes */
    bool has_lines;
};

/* Returns 0 or OV_ENOMEM. */
int px_gather_open(const struct px_gather_cfg *cfg, struct px_gather **out);
/* Drops what is held. NULL is fine. O(channels). */
void px_gather_close(struct px_gather *gather);

/* Takes a piece. What *out borrows belongs to the piece, or is valid until the
 * next call. O(bytes). */
enum px_gather_verdict px_gather_put(struct px_gather *gather,
                                     const struct px_lib_output *piece,
                                     uint64_t now_ms,
                                     struct px_lib_output *out);
/* Gives the bytes that have been held long enough; with `all`, those that have
 * been held longest. False: there are none. O(1). */
bool px_gather_get(struct px_gather *gather, uint64_t now_ms, bool all,
                   struct px_lib_output *out);

/* Names in *out the channel whose bytes have been held longest, without the
 * bytes. False: nothing is held. O(1). */
bool px_gather_peek(const struct px_gather *gather, struct px_lib_output *out);
/* Gives what is held of a channel. False: nothing is held. O(1). */
bool px_gather_take(struct px_gather *gather, uint32_t rank, uint16_t channel,
                    struct px_lib_output *out);

/* The time at which px_gather_get() has something to give; 0: never. O(1). */
uint64_t px_gather_due_ms(const struct px_gather *gather);
/* O(1). */
bool px_gather_is_empty(const struct px_gather *gather);

#endif
