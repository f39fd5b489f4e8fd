/* Growing text, and lines of fields that nothing can break.
 *
 * A line is `keyword field field...\n`, parted by single spaces. In a field
 * the space, '%', control bytes and everything beyond ASCII travel as %XX; an
 * empty field is a lone '%'. Any C string survives, and no field can end a
 * line or start another one.
 *
 * Text may hold a secret: memory is wiped before it is given back, also when
 * it grows.
 */
#ifndef TEXT_FIELDS_H
#define TEXT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty. Sticks on error: after the first failed allocation `bad` is
 * set and adding does nothing. Check once, at the end. */
struct text_buf {
    char *at; /* owned; NUL-terminated; NULL while nothing was added */
    size_t len_bytes;
    size_t cap_bytes;
    bool bad;
};

/* Wipes and frees; *text is empty again. */
void text_buf_fini(struct text_buf *text);

/* Wipes and empties but keeps the memory; clears `bad`. */
void text_buf_clear(struct text_buf *text);

/* Amortised O(len_bytes). */
void text_buf_add(struct text_buf *text, const char *mem, size_t len_bytes);
void text_buf_puts(struct text_buf *text, const char *string);
void text_buf_printf(struct text_buf *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the first len_bytes. O(what is left). */
void text_buf_cut(struct text_buf *text, size_t len_bytes);

/* Adds the bytes as one may show them to a person: newlines as " / ", other
 * control bytes as \xNN, at most max_bytes of them and then "...". */
void text_buf_quote(struct text_buf *text, const char *mem, size_t len_bytes,
                    size_t max_bytes);

/* Adds ' ' and the field, encoded; a number in decimal; bytes as lower-case
 * hex digits. */
void text_buf_field(struct text_buf *text, const char *field);
void text_buf_number(struct text_buf *text, uint64_t value);
void text_buf_hex(struct text_buf *text, const uint8_t *mem, size_t len_bytes);

/* Is it one word to a shell, as it is, and nothing else? (Not at the begin of a
 * command, where A=B is an assignment.) O(length). */
bool text_buf_is_plain(const char *word);

/* Adds the string so that a shell takes it as one word. */
void text_buf_shell_word(struct text_buf *text, const char *word);

/* Reads the fields of one line, in place: the line is overwritten. Sticks on
 * error: after the first bad field `bad` is set and nothing more is given. */
struct text_fields {
    char *at;  /* borrowed; NULL: no field is left */
    char *end; /* borrowed */
    bool bad;
};

/* `line` has len_bytes without the newline and must have room for a NUL after
 * them, which is written there. */
struct text_fields text_fields_init(char *line, size_t len_bytes);

/* The next field, decoded, NUL-terminated and borrowed from the line; ""
 * with `bad` set when there is none or it is not legal (a raw byte that must
 * be encoded, %XX without two hex digits, %00, nothing between spaces). */
const char *text_fields_next(struct text_fields *fields);

/* A decimal number of digits only, from min to max; min and `bad` else. */
uint64_t text_fields_number(struct text_fields *fields, uint64_t min,
                            uint64_t max);

/* Exactly 2 * len_bytes hex digits; zeroes and `bad` else. */
void text_fields_hex(struct text_fields *fields, uint8_t *out,
                     size_t len_bytes);

/* True when every field was read and all were good. */
bool text_fields_done(const struct text_fields *fields);

#endif
