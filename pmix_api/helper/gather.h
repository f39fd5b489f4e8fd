/* Output that is put together before it goes to the tool: of each channel so
 * many bytes, or what there is of it after so much time, or at its end; where
 * it is to be lines, also until a line is whole. What goes then ends with a
 * newline, also at the end of its channel; but not where something is missing,
 * or a line is too long, or held for the time that was asked for.
 *
 * What a channel has goes in its order; that of several channels may change
 * places. Memory: 48 bytes for each channel of all processes, and at most
 * PX_GATHER_HELD_BYTES. Pure; times are the caller's.
 */
#ifndef PMIX_API_HELPER_GATHER_H
#define PMIX_API_HELPER_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_gather;

enum {
    PX_GATHER_HELD_BYTES = 4 << 20,
    PX_GATHER_PIECE_BYTES = 64 * 1024, /* of what is put, at most */
};

enum px_gather_verdict {
    PX_GATHER_HELD,
    PX_GATHER_GOES,  /* *out does, which ends with the piece */
    PX_GATHER_FIRST, /* *out does, and the piece is to be put once more */
};

struct px_gather_cfg {
    uint32_t procs;
    uint64_t size_bytes; /* 0: nothing is put together; of more than a delivery
                            has room for, as much */
    uint64_t time_ms;    /* 0: however long it takes */
    bool has_lines;
};

/* Returns 0 or OV_ENOMEM. */
int px_gather_open(const struct px_gather_cfg *cfg, struct px_gather **out);
/* NULL is fine: what is held is dropped. O(channels). */
void px_gather_close(struct px_gather *gather);

/* Takes a piece. What *out borrows is the piece's, or valid until the next
 * call. O(bytes). */
enum px_gather_verdict px_gather_put(struct px_gather *gather,
                                     const struct px_lib_output *piece,
                                     uint64_t now_ms,
                                     struct px_lib_output *out);
/* What has been held for long enough, or (all) for longest. False: nothing.
 * O(1). */
bool px_gather_get(struct px_gather *gather, uint64_t now_ms, bool all,
                   struct px_lib_output *out);

/* The channel whose bytes have been held for longest, without these. False:
 * nothing is held. O(1). */
bool px_gather_peek(const struct px_gather *gather, struct px_lib_output *out);
/* What is held of a channel. False: nothing. O(1). */
bool px_gather_take(struct px_gather *gather, uint32_t rank, uint16_t channel,
                    struct px_lib_output *out);

/* When time makes something go; 0: never. O(1). */
uint64_t px_gather_due_ms(const struct px_gather *gather);
/* O(1). */
bool px_gather_is_empty(const struct px_gather *gather);

#endif
