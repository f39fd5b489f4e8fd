/* A line that several ranks said, as it is shown once, in each of the formats:
 *
 *     text  [0-3,7] line
 *     json  {"nspace":"job","ranks":"0-3,7","channel":"stdout","text":"line"}
 *     xml   <stdout rank="0-3,7">line&#010;</stdout>
 *
 * Unlike the head of format.h, that of such a line may be of any length. Pure.
 */
#ifndef TEXT_FOLDED_H
#define TEXT_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "text/head.h"

/* The head of one style and channel. All zero: none was made. */
struct text_folded {
    const struct text_style *style; /* borrowed */
    uint8_t channel;
    uint32_t who_at; /* where in the head the ranks, or hosts, come */
    struct text_head head;
};

struct text_folded_line {
    const char *who; /* "0-3,7", or what the label has in its place */
    size_t who_bytes;
    const uint8_t *mem; /* the line; without a newline it was not ended */
    size_t len_bytes;
    uint64_t time_ns; /* when it came, since 1970; for a style with a time */
};

/* How output of a job is shown, made of how it would be without folding: an
 * object or element names ranks, and so does a line without another label. */
void text_folded_style(struct text_style *style);

/* Returns a bound of what text_folded_put() writes. */
size_t text_folded_max(const struct text_style *style,
                       const struct text_folded_line *line);

/* Writes the line, which ends with a newline in any case, to dst, which has
 * room for text_folded_max() bytes. Returns the bytes written. O(bytes). */
size_t text_folded_put(struct text_folded *folded,
                       const struct text_style *style, uint8_t channel,
                       const struct text_folded_line *line, uint8_t *dst);

#endif
