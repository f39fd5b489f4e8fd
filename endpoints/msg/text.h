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
#ifndef ENDPOINTS_MSG_TEXT_H
#define ENDPOINTS_MSG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty. Sticks on error: after the first failed allocation `bad` is
 * set and adding does nothing. Check once, at the end. */
struct ep_text {
    char *at; /* owned; NUL-terminated; NULL while nothing was added */
    size_t len_bytes;
    size_t cap_bytes;
    bool bad;
};

/* Wipes and frees; *text is empty again. */
void ep_text_fini(struct ep_text *text);

/* Wipes and empties but keeps the memory; clears `bad`. */
void ep_text_clear(struct ep_text *text);

/* Amortised O(len_bytes). */
void ep_text_add(struct ep_text *text, const char *mem, size_t len_bytes);
void ep_text_puts(struct ep_text *text, const char *string);
void ep_text_printf(struct ep_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the first len_bytes. O(what is left). */
void ep_text_cut(struct ep_text *text, size_t len_bytes);

/* Adds the bytes as one may show them to a person: newlines as " / ", other
 * control bytes as \xNN, at most max_bytes of them and then "...". */
void ep_text_quote(struct ep_text *text, const char *mem, size_t len_bytes,
                   size_t max_bytes);

/* Adds ' ' and the field, encoded; a number in decimal; bytes as lower-case
 * hex digits. */
void ep_text_field(struct ep_text *text, const char *field);
void ep_text_number(struct ep_text *text, uint64_t value);
void ep_text_hex(struct ep_text *text, const uint8_t *mem, size_t len_bytes);

/* Is it one word to a shell, as it is, and nothing else? (Not at the begin of a
 * command, where A=B is an assignment.) O(length). */
bool ep_text_is_plain(const char *word);

/* Adds the string so that a shell takes it as one word. */
void ep_text_shell_word(struct ep_text *text, const char *word);

/* Reads the fields of one line, in place: the line is overwritten. Sticks on
 * error: after the first bad field `bad` is set and nothing more is given. */
struct ep_fields {
    char *at;  /* borrowed; NULL: no field is left */
    char *end; /* borrowed */
    bool bad;
};

/* `line` has len_bytes without the newline and must have room for a NUL after
 * them, which is written there. */
struct ep_fields ep_fields_init(char *line, size_t len_bytes);

/* The next field, decoded, NUL-terminated and borrowed from the line; ""
 * with `bad` set when there is none or it is not legal (a raw byte that must
 * be encoded, %XX without two hex digits, %00, nothing between spaces). */
const char *ep_fields_next(struct ep_fields *fields);

/* A decimal number of digits only, from min to max; min and `bad` else. */
uint64_t ep_fields_number(struct ep_fields *fields, uint64_t min, uint64_t max);

/* Exactly 2 * len_bytes hex digits; zeroes and `bad` else. */
void ep_fields_hex(struct ep_fields *fields, uint8_t *out, size_t len_bytes);

/* True when every field was read and all were good. */
bool ep_fields_done(const struct ep_fields *fields);

#endif
