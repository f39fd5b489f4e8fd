/* Formats of output: each is a file of its own and a row of TEXT_FORMAT_MAP
 * (style.h).
 *
 * A format without a tail takes lines as they are, behind their head. In all
 * others each line is an object or element: head, characters, tail.
 */
#ifndef TEXT_ROW_H
#define TEXT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/head.h"
#include "text/style.h"

enum { TEXT_TAIL_MAX = 32, TEXT_OPENING_MAX = 16 };

struct text_row {
    const char *name; /* as of --format */
    /* Makes an empty head for this origin. */
    void (*put_head)(struct text_head *head, const struct text_origin *from);
    /* Behind the head, TEXT_OPENING_MAX bytes at most: before characters, and,
     * where the format wants a line that is not UTF-8 to be base64, before that
     * (NULL: it does not). */
    const char *opening, *base64_opening;
    /* Writes one byte that is no character of several bytes, as escape.h. */
    size_t (*escape)(uint8_t byte, uint8_t *dst);
    /* Writes the end, with or without the line's newline, as a string. */
    void (*put_tail)(char tail[TEXT_TAIL_MAX], const struct text_origin *from,
                     bool has_newline);
};

#define TEXT_ROW_DECLARED(NAME, row)                                           \
    extern const struct text_row text_row_##row;
TEXT_FORMAT_MAP(TEXT_ROW_DECLARED)
#undef TEXT_ROW_DECLARED

/* O(1). */
const struct text_row *text_row(enum text_format_kind kind);
/* Makes the head for this origin, in its format. Names may be NULL ("?"). */
void text_row_head(struct text_head *head, const struct text_origin *from);
/* By its name; TEXT_FORMATS: there is none of that name. */
enum text_format_kind text_row_find(const char *name);

#endif
