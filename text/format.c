/* Formats output as labelled lines, JSON objects or XML elements, as much at a
 * time as there is room for. */
#include "config.h"

#include "text/format.h"

#include <string.h>

#include "text/escape.h"
#include "text/row.h"

/* The input and the output of a call. */
struct flow {
    const uint8_t *from;
    const uint8_t *end;
    uint8_t *to;
    uint8_t *limit;
};

static size_t room_of(const struct flow *flow)
{
    return (size_t)(flow->limit - flow->to);
}

static bool flow_put(struct flow *flow, const char *text, size_t len)
{
    if (room_of(flow) < len)
        return false;
    memcpy(flow->to, text, len);
    flow->to += len;
    return true;
}

static bool is_same(const struct text_origin *a, const struct text_origin *b)
{
    return a->style == b->style && a->rank == b->rank &&
           a->channel == b->channel && a->host == b->host && a->ranks == NULL &&
           b->ranks == NULL &&
           (!a->style->has_time ||
            a->time_ns / 1000000 == b->time_ns / 1000000);
}

static void head_for(struct text_format *fm, const struct text_origin *from)
{
    if (fm->origin.style != NULL && is_same(&fm->origin, from))
        return;
    fm->origin = *from;
    text_row_head(&fm->head, from);
}

static bool put_head(struct text_format *fm, struct flow *flow)
{
    return room_of(flow) > fm->head.len_bytes &&
           flow_put(flow, fm->head.text, fm->head.len_bytes);
}

/* ---- text ---- */

/* Returns how many of the bytes belong to this line, or to this picture of it
 * where a carriage return goes back to its beginning. */
static size_t stretch(const struct text_format *fm, const uint8_t *from,
                      size_t len)
{
    const uint8_t *newline = memchr(from, '\n', len);
    const uint8_t *back;

    if (newline != NULL)
        len = (size_t)(newline - from) + 1;
    back = fm->is_terminal ? memchr(from, '\r', len) : NULL;
    return back != NULL ? (size_t)(back - from) + 1 : len;
}

static void plain_lines(struct text_format *fm, bool *mid_line,
                        struct flow *flow)
{
    while (flow->from < flow->end && flow->to < flow->limit) {
        const bool is_over =
            fm->has_returned && *flow->from != '\n' && *flow->from != '\r';
        size_t len = (size_t)(flow->end - flow->from);

        if ((!*mid_line || is_over) && !put_head(fm, flow))
            break;
        if (len > room_of(flow))
            len = room_of(flow);
        len = stretch(fm, flow->from, len);
        memcpy(flow->to, flow->from, len);
        flow->to += len;
        flow->from += len;
        *mid_line = flow->from[-1] != '\n';
        fm->has_returned = fm->is_terminal && flow->from[-1] == '\r';
    }
}

/* ---- objects and elements ---- */

static bool piece_begin(struct text_format *fm, struct flow *flow)
{
    const struct text_row *row = text_row(fm->origin.style->format);
    const size_t left = (size_t)(flow->end - flow->from);
    const uint8_t *newline = memchr(flow->from, '\n', left);
    const char *opening = row->opening;

    if (room_of(flow) < fm->head.len_bytes + TEXT_OPENING_MAX)
        return false;
    fm->has_newline = newline != NULL;
    fm->piece_bytes = newline != NULL ? (size_t)(newline - flow->from) : left;
    fm->part = TEXT_PART_TEXT;
    if (row->base64_opening != NULL &&
        !text_utf8_is_valid(flow->from, fm->piece_bytes)) {
        fm->part = TEXT_PART_BASE64;
        opening = row->base64_opening;
    }
    put_head(fm, flow);
    flow_put(flow, opening, strlen(opening));
    return true;
}

/* Writes one character, or one byte that begins no valid character. */
static void character_put(struct text_format *fm, const struct text_row *row,
                          struct flow *flow)
{
    const size_t len = text_utf8_len(flow->from, fm->piece_bytes);

    if (len > 1) {
        memcpy(flow->to, flow->from, len);
        flow->to += len;
    } else {
        flow->to += row->escape(*flow->from, flow->to);
    }
    flow->from += len > 1 ? len : 1;
    fm->piece_bytes -= len > 1 ? len : 1;
}

static void base64_put(struct text_format *fm, struct flow *flow)
{
    const size_t len = fm->piece_bytes < 3 ? fm->piece_bytes : 3;

    text_base64_put(flow->from, len, flow->to);
    flow->to += 4;
    flow->from += len;
    fm->piece_bytes -= len;
}

static bool piece_end(struct text_format *fm, const struct text_row *row,
                      struct flow *flow)
{
    char tail[TEXT_TAIL_MAX];

    row->put_tail(tail, &fm->origin, fm->has_newline);
    if (!flow_put(flow, tail, strlen(tail)))
        return false;
    if (fm->has_newline)
        flow->from++;
    fm->part = TEXT_PART_NONE;
    return true;
}

static void piece_lines(struct text_format *fm, struct flow *flow)
{
    const struct text_row *row = text_row(fm->origin.style->format);

    while (flow->from < flow->end || fm->part != TEXT_PART_NONE) {
        if (fm->part == TEXT_PART_NONE && !piece_begin(fm, flow))
            return;
        while (fm->piece_bytes > 0 && room_of(flow) >= TEXT_ESCAPE_MAX) {
            if (fm->part == TEXT_PART_TEXT)
                character_put(fm, row, flow);
            else
                base64_put(fm, flow);
        }
        if (fm->piece_bytes > 0 || !piece_end(fm, row, flow))
            return;
    }
}

size_t text_format_lines(struct text_format *fm, const struct text_origin *from,
                         bool *mid_line, const uint8_t **src,
                         const uint8_t *end, uint8_t *dst, size_t room_bytes)
{
    struct flow flow = {
        .from = *src, .end = end, .to = dst, .limit = dst + room_bytes};

    if (fm->part == TEXT_PART_NONE)
        head_for(fm, from);
    if (!*mid_line)
        fm->has_returned = false;
    if (text_row(from->style->format)->put_tail == NULL) {
        plain_lines(fm, mid_line, &flow);
    } else {
        piece_lines(fm, &flow);
        *mid_line = false;
    }
    *src = flow.from;
    return (size_t)(flow.to - dst);
}
