/* Of the words between launcher and helper (wire.h): OUTPUT. */
#ifndef PMIX_API_WIRE_OUTPUT_H
#define PMIX_API_WIRE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"

enum {
    PX_OUTPUT_BYTES_MAX = 64 * 1024, /* in one: what a pipe holds */
    PX_OUTPUT_HEAD_BYTES = 31,       /* before its bytes, kind included */
    PX_OUTPUT_SHARED_BYTES = PX_OUTPUT_HEAD_BYTES + 8, /* one without bytes */
};

struct px_output {
    uint32_t rank;
    uint8_t channel;                      /* enum ov_channel */
    bool is_end, is_redirected, is_turn;  /* turn: `to` gets it from here on */
    uint32_t to;                          /* a pull; 0: all that get it */
    uint64_t dropped_bytes, before_bytes; /* missing just before it */
    uint32_t len_bytes;
    bool is_shared;     /* its bytes are elsewhere, at `at` (share.h) */
    uint64_t at;        /* 0 when not shared */
    const uint8_t *mem; /* borrowed; NULL when shared */
};

/* What stands before the bytes, kind included: PX_OUTPUT_HEAD_BYTES; all of one
 * that is shared: PX_OUTPUT_SHARED_BYTES. For whoever does not want the bytes
 * copied. */
void px_output_encode_head(struct ov_wr *wr, const struct px_output *output);

/* What follows the kind, for px_msg_encode() and px_msg_decode(). */
void px_output_encode(struct ov_wr *wr, const struct px_output *output);
/* Sets rd->bad for what is none. */
void px_output_decode(struct ov_rd *rd, struct px_output *output);

#endif
