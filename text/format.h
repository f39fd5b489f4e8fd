/* Bytes of a process as lines that are labelled, or objects or elements that
 * hold a line each.
 *
 * text: the head, then the line as it is. A line that comes in pieces has one
 * head where nothing of another process came between.
 *
 * json: an object a line, in a line of its own. The member "text" has the line
 * without its newline; where that is not UTF-8, the member "base64" has it in
 * its place. A line that comes in pieces, or has no newline at its channel's
 * end, has "newline":false. So the bytes of a process are those of its
 * objects, in order, with a newline behind each that does not deny it.
 *
 * xml: an element a line, in a line of its own, as of PMIx: the newline is
 * "&#010;" at its end, and missing where the line had none. Control characters
 * and bytes that are not UTF-8 are numbers of three digits. (XML 1.0 has no
 * way to write most control characters: a strict reader refuses them.)
 *
 * Pure: no state but the caller's.
 */
#ifndef TEXT_FORMAT_H
#define TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/head.h"

/* Room that suffices for something to be put. */
enum { TEXT_FORMAT_ROOM_MIN = TEXT_HEAD_MAX + 64 };

enum text_format_part { TEXT_PART_NONE, TEXT_PART_TEXT, TEXT_PART_BASE64 };

/* Zeroed: at the start of a line. */
struct text_format {
    struct text_origin origin; /* of the head; style NULL: none made */
    size_t piece_bytes;        /* of the object or element, still to be put */
    enum text_format_part part;
    bool has_newline; /* behind the piece */
    struct text_head head;
};

/* Copies bytes from *src (up to `end`) to dst, as lines of this origin, until
 * either is used up; *src moves on. `mid_line` says whether dst's last byte
 * before was inside a line, and is kept. A head is put whole or not at all,
 * and never at the end of the room. A call that returned with
 * text_format_is_open() is to be followed by one with the same origin and
 * bytes, also where *src is at its end.
 *
 * Cost: O(bytes), and a head a line. Returns the bytes put.
 */
size_t text_format_lines(struct text_format *fm, const struct text_origin *from,
                         bool *mid_line, const uint8_t **src,
                         const uint8_t *end, uint8_t *dst, size_t room_bytes);

/* An object or element was begun and wants more room. */
static inline bool text_format_is_open(const struct text_format *fm)
{
    return fm->part != TEXT_PART_NONE;
}

#endif
