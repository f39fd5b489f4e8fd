/* Writes folded lines: the head is made with a mark instead of the ranks, whose
 * text may be of any length. */
#include "config.h"

#include "text/folded.h"

#include <string.h>

#include "overlay/base/panic.h"
#include "text/escape.h"
#include "text/row.h"

static const char mark[] = "\001";

void text_folded_style(struct text_style *style)
{
    if (style->format != TEXT_FORMAT_TEXT || style->label == TEXT_LABEL_NONE ||
        style->label == TEXT_LABEL_RANK)
        style->label =
            style->format == TEXT_FORMAT_XML && style->label == TEXT_LABEL_FULL
                ? TEXT_LABEL_FULL
                : TEXT_LABEL_FOLD;
    style->rank_digits = style->host_bytes = 0;
}

size_t text_folded_max(const struct text_style *style,
                       const struct text_folded_line *line)
{
    const bool is_text = style->format == TEXT_FORMAT_TEXT;

    return TEXT_HEAD_MAX + line->who_bytes + TEXT_OPENING_MAX + TEXT_TAIL_MAX +
           line->len_bytes * (is_text ? 1 : TEXT_ESCAPE_MAX);
}

static void make_head(struct text_folded *folded,
                      const struct text_style *style, uint8_t channel,
                      uint64_t time_ns)
{
    const struct text_origin from = {.style = style,
                                     .host = mark,
                                     .ranks = mark,
                                     .time_ns = time_ns,
                                     .channel = channel};
    const char *at;

    if (folded->style == style && folded->channel == channel &&
        !style->has_time)
        return;
    folded->style = style;
    folded->channel = channel;
    text_row_head(&folded->head, &from);
    at = memchr(folded->head.text, mark[0], folded->head.len_bytes);
    OV_ASSERT(at != NULL);
    folded->who_at = (uint32_t)(at - folded->head.text);
}

static uint8_t *put(uint8_t *to, const void *mem, size_t len_bytes)
{
    if (len_bytes > 0)
        memcpy(to, mem, len_bytes);
    return to + len_bytes;
}

static uint8_t *put_head(const struct text_folded *folded,
                         const struct text_folded_line *line, uint8_t *to)
{
    const uint32_t behind = folded->who_at + 1;

    to = put(to, folded->head.text, folded->who_at);
    to = put(to, line->who, line->who_bytes);
    return put(to, folded->head.text + behind, folded->head.len_bytes - behind);
}

static uint8_t *put_characters(const struct text_row *row, const uint8_t *at,
                               const uint8_t *end, uint8_t *to)
{
    while (at < end) {
        const size_t len = text_utf8_len(at, (size_t)(end - at));

        if (len > 1)
            to = put(to, at, len);
        else
            to += row->escape(*at, to);
        at += len > 1 ? len : 1;
    }
    return to;
}

static uint8_t *put_base64(const uint8_t *at, const uint8_t *end, uint8_t *to)
{
    while (at < end) {
        const size_t len = end - at < 3 ? (size_t)(end - at) : 3;

        text_base64_put(at, len, to);
        at += len;
        to += 4;
    }
    return to;
}

/* Writes an object or element behind its head. */
static uint8_t *put_piece(const struct text_folded *folded,
                          const struct text_row *row, const uint8_t *at,
                          size_t len_bytes, uint8_t *to)
{
    const struct text_origin from = {.style = folded->style,
                                     .channel = folded->channel};
    const bool has_newline = len_bytes > 0 && at[len_bytes - 1] == '\n';
    const uint8_t *end = at + len_bytes - has_newline;
    char tail[TEXT_TAIL_MAX];

    if (row->base64_opening != NULL &&
        !text_utf8_is_valid(at, (size_t)(end - at))) {
        to = put(to, row->base64_opening, strlen(row->base64_opening));
        to = put_base64(at, end, to);
    } else {
        to = put(to, row->opening, strlen(row->opening));
        to = put_characters(row, at, end, to);
    }
    row->put_tail(tail, &from, has_newline);
    return put(to, tail, strlen(tail));
}

size_t text_folded_put(struct text_folded *folded,
                       const struct text_style *style, uint8_t channel,
                       const struct text_folded_line *line, uint8_t *dst)
{
    const struct text_row *row = text_row(style->format);
    uint8_t *to;

    make_head(folded, style, channel, line->time_ns);
    to = put_head(folded, line, dst);
    if (row->put_tail != NULL) {
        to = put_piece(folded, row, line->mem, line->len_bytes, to);
        return (size_t)(to - dst);
    }
    to = put(to, line->mem, line->len_bytes);
    if (line->len_bytes == 0 || to[-1] != '\n')
        *to++ = '\n';
    return (size_t)(to - dst);
}
