/* Characters that JSON and XML write in another way, and UTF-8.
 *
 * Pure. O(1), but text_utf8_is_valid.
 */
#ifndef TEXT_ESCAPE_H
#define TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_ESCAPE_MAX = 6 }; /* bytes that one byte can become */

/* The length of the character at mem, 1 to 4; 0 where there is none: wrong,
 * cut off, overlong, a surrogate, or past U+10FFFF. left_bytes is not 0. */
size_t text_utf8_len(const uint8_t *mem, size_t left_bytes);

bool text_utf8_is_valid(const uint8_t *mem, size_t len_bytes);

/* Writes one byte below 128 as it stands in a string of JSON; returns the
 * bytes written, TEXT_ESCAPE_MAX at most. Bytes from 128 on are copied. */
size_t text_json_escape(uint8_t byte, uint8_t *dst);

/* The same for XML. Control characters and bytes from 128 on become a number
 * of three digits, as PMIx has it: "&#010;". */
size_t text_xml_escape(uint8_t byte, uint8_t *dst);

/* Writes 1 to 3 bytes as 4 characters of base64. */
void text_base64_put(const uint8_t *mem, size_t len_bytes, uint8_t *dst);

#endif
