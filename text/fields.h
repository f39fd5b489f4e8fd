/* A text that grows, and lines of fields in which any string can travel.
 *
 * A line is `keyword field field...\n`, with single spaces between them. In a
 * field the space, '%', control bytes and everything beyond ASCII travel as
 * %XX; an empty field is a lone '%'. Any C string survives, and no field can
 * end a line or start another one.
 *
 * A text may hold a secret: memory is overwritten with zeros before it is
 * freed, also when the text grows.
 */
#ifndef TEXT_FIELDS_H
#define TEXT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. All zero is an empty text. After the first failed
 * allocation `bad` is set and adding does nothing, so it is enough to check
 * once, at the end. */
struct text_buf {
    char *at; /* owned; NUL-terminated; NULL while nothing was added */
    size_t len_bytes;
    size_t cap_bytes;
    bool bad;
};

/* Wipes and frees the memory; *text is empty again. */
void text_buf_fini(struct text_buf *text);

/* Wipes and empties the text but keeps its memory; clears `bad`. */
void text_buf_clear(struct text_buf *text);

/* Amortised O(len_bytes). */
void text_buf_add(struct text_buf *text, const char *mem, size_t len_bytes);
void text_buf_puts(struct text_buf *text, const char *string);
void text_buf_printf(struct text_buf *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the first len_bytes. O(bytes that remain). */
void text_buf_cut(struct text_buf *text, size_t len_bytes);

/* Adds bytes in a form that can be shown to a person: newlines become " / ",
 * other control bytes \xNN. Shows at most max_bytes of them, then "...". */
void text_buf_quote(struct text_buf *text, const char *mem, size_t len_bytes,
                    size_t max_bytes);

/* Each of these adds ' ' and one field: an encoded string, a decimal number, or
 * bytes as lower-case hex digits. */
void text_buf_field(struct text_buf *text, const char *field);
void text_buf_number(struct text_buf *text, uint64_t value);
void text_buf_hex(struct text_buf *text, const uint8_t *mem, size_t len_bytes);

/* True when a shell reads these characters, unquoted, as one unchanged
 * argument. (At the beginning of a command A=B would be an assignment.)
 * O(length). */
bool text_buf_is_plain(const char *word);

/* Adds the string, quoted where needed, so that a shell reads it as one
 * argument. */
void text_buf_shell_word(struct text_buf *text, const char *word);

/* Reads the fields of one line, in place: the line is overwritten. After the
 * first bad field `bad` is set and no further field is returned. */
struct text_fields {
    char *at;  /* borrowed; NULL: no field is left */
    char *end; /* borrowed */
    bool bad;
};

/* `line` has len_bytes, without the newline. The function writes a NUL after
 * them, for which there must be room. */
struct text_fields text_fields_init(char *line, size_t len_bytes);

/* Returns the next field, decoded, NUL-terminated and borrowed from the line.
 * Returns "" and sets `bad` when no field is left, or when the field is not
 * valid (it is empty, or has a raw byte that must be encoded, a '%' without two
 * hex digits, or %00). */
const char *text_fields_next(struct text_fields *fields);

/* Reads a decimal number, digits only, from min to max. Otherwise returns min
 * and sets `bad`. */
uint64_t text_fields_number(struct text_fields *fields, uint64_t min,
                            uint64_t max);

/* Reads exactly 2 * len_bytes hex digits. Otherwise zeroes out and sets
 * `bad`. */
void text_fields_hex(struct text_fields *fields, uint8_t *out,
                     size_t len_bytes);

/* True when every field was read and all were valid. */
bool text_fields_done(const struct text_fields *fields);

#endif
