/* Formats of output. Each format is a file of its own and a row of
 * TEXT_FORMAT_MAP (style.h).
 *
 * A format without a tail writes each line as it is after its head. In all
 * others each line becomes an object or element: head, characters, tail.
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
    const char *name; /* the value of --format */
    /* Writes the head for this origin into *head, which is empty. */
    void (*put_head)(struct text_head *head, const struct text_origin *from);
    /* Text that follows the head, at most TEXT_OPENING_MAX bytes: `opening`
     * before the characters of a line, base64_opening before base64. A format
     * with base64_opening NULL never uses base64. */
    const char *opening, *base64_opening;
    /* Writes one byte that is not part of a longer character (see escape.h). */
    size_t (*escape)(uint8_t byte, uint8_t *dst);
    /* Writes the end of the object or element, as a string. With has_newline
     * this represents the newline of the line of output, too. */
    void (*put_tail)(char tail[TEXT_TAIL_MAX], const struct text_origin *from,
                     bool has_newline);
};

#define TEXT_ROW_DECLARED(NAME, row)                                           \
    extern const struct text_row text_row_##row;
TEXT_FORMAT_MAP(TEXT_ROW_DECLARED)
#undef TEXT_ROW_DECLARED

/* The row of a format. O(1). */
const struct text_row *text_row(enum text_format_kind kind);
/* Makes the head for this origin, in its format. Missing names (NULL) become
 * "?". */
void text_row_head(struct text_head *head, const struct text_origin *from);
/* Finds a format by its name. TEXT_FORMATS: there is no such format. */
enum text_format_kind text_row_find(const char *name);

#endif
