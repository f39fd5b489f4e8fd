/* Output of a process as labelled lines, or as JSON objects or XML elements
 * that hold one line each.
 *
 * text: the head, then the line as it is. A line that comes in pieces has one
 * head, unless output of another process came between the pieces.
 *
 * On a terminal the head comes again behind a carriage return that does not end
 * the line: a progress bar, which is drawn over itself, keeps its label.
 *
 * json: one object for each line of output, on a line of its own. Its member
 * "text" is the line without its newline; where that is not UTF-8, the member
 * "base64" takes its place. A line that comes in pieces, or that has no newline
 * at the end of its channel, has "newline":false. The bytes of a process are
 * therefore the texts of its objects, in order, with a newline after each
 * object that does not have "newline":false.
 *
 * xml: one element for each line of output, on a line of its own, as in PMIx:
 * the newline is "&#010;" at its end, and missing where the line had none.
 * Control characters and bytes that are not UTF-8 are numbers of three digits.
 * (XML 1.0 has no way to write most control characters: a strict reader refuses
 * them.)
 *
 * Pure: no state but the caller's.
 */
#ifndef TEXT_FORMAT_H
#define TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/head.h"

/* With this much room at least something can be written. */
enum { TEXT_FORMAT_ROOM_MIN = TEXT_HEAD_MAX + 64 };

enum text_format_part { TEXT_PART_NONE, TEXT_PART_TEXT, TEXT_PART_BASE64 };

/* All zero: at the start of a line. */
struct text_format {
    struct text_origin origin; /* the origin that `head` was made for; style
                                  NULL: no head was made */
    size_t piece_bytes;        /* bytes of the current piece that are still
                                  to be written */
    enum text_format_part part;
    bool is_terminal;  /* set by the caller: a carriage return goes back */
    bool has_returned; /* the last byte of an open line is one */
    bool has_newline;  /* the current piece ends with a newline */
    struct text_head head;
};

/* Copies bytes from *src (up to `end`) to dst, formatted as lines of this
 * origin, until the input or the room is used up, and advances *src. `mid_line`
 * says whether the byte written last was inside a line, and is updated. A head
 * is written whole or not at all, and never at the very end of the room. When
 * text_format_is_open() is true after the call, the next call must have the
 * same origin and the rest of the same bytes, even when *src has reached the
 * end.
 *
 * Cost: O(bytes), and one head for each line. Returns the bytes put.
 */
size_t text_format_lines(struct text_format *fm, const struct text_origin *from,
                         bool *mid_line, const uint8_t **src,
                         const uint8_t *end, uint8_t *dst, size_t room_bytes);

/* True when an object or element was begun and could not be ended yet because
 * room was missing. */
static inline bool text_format_is_open(const struct text_format *fm)
{
    return fm->part != TEXT_PART_NONE;
}

#endif
