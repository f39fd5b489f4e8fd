/* Escaping of single bytes for JSON and XML, base64, and checks of UTF-8.
 *
 * Pure. All functions are O(1), except text_utf8_is_valid, which is
 * O(len_bytes).
 */
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_ESCAPE_MAX = 6 }; /* the most bytes that one byte becomes */

/* Returns the length of the UTF-8 character at mem, 1 to 4, or 0 where no valid
 * character begins: it is malformed, cut off, overlong, a surrogate, or above
 * U+10FFFF. left_bytes must be at least 1. */
size_t text_utf8_len(const uint8_t *mem, size_t left_bytes);

bool text_utf8_is_valid(const uint8_t *mem, size_t len_bytes);

/* Writes one byte below 128 as a JSON string needs it and returns the bytes
 * written, at most TEXT_ESCAPE_MAX. A byte from 128 on is copied as it is. */
size_t text_json_escape(uint8_t byte, uint8_t *dst);

/* Writes one byte as XML needs it and returns the bytes written, at most
 * TEXT_ESCAPE_MAX. Control characters and bytes from 128 on become a number of
 * three digits, as in PMIx: "&#010;". */
size_t text_xml_escape(uint8_t byte, uint8_t *dst);

/* Writes 1 to 3 bytes as 4 characters of base64. */
void text_base64_put(const uint8_t *mem, size_t len_bytes, uint8_t *dst);

#endif
