/* Growing text and lines of fields. The encoding is described in fields.h. */
#include "config.h"

#include "text/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum { CAP_FIRST = 256 };

void text_buf_fini(struct text_buf *text)
{
    if (text->at != NULL)
        sodium_memzero(text->at, text->cap_bytes);
    free(text->at);
    *text = (struct text_buf){0};
}

void text_buf_clear(struct text_buf *text)
{
    if (text->at != NULL) {
        sodium_memzero(text->at, text->len_bytes);
        text->at[0] = '\0';
    }
    text->len_bytes = 0;
    text->bad = false;
}

/* Makes room for len_bytes more and a NUL. This does not call realloc(), which
 * would free the old text without overwriting it. */
static bool reserve(struct text_buf *text, size_t len_bytes)
{
    size_t cap = text->cap_bytes == 0 ? CAP_FIRST : text->cap_bytes;
    char *grown;

    if (text->bad)
        return false;
    if (len_bytes < text->cap_bytes - text->len_bytes)
        return true;
    while (cap - text->len_bytes <= len_bytes) {
        if (cap > SIZE_MAX / 2) {
            text->bad = true;
            return false;
        }
        cap *= 2;
    }
    grown = malloc(cap);
    if (grown == NULL) {
        text->bad = true;
        return false;
    }
    if (text->at != NULL) {
        memcpy(grown, text->at, text->len_bytes);
        sodium_memzero(text->at, text->cap_bytes);
        free(text->at);
    }
    text->at = grown;
    text->cap_bytes = cap;
    return true;
}

void text_buf_add(struct text_buf *text, const char *mem, size_t len_bytes)
{
    if (!reserve(text, len_bytes))
        return;
    if (len_bytes > 0)
        memcpy(text->at + text->len_bytes, mem, len_bytes);
    text->len_bytes += len_bytes;
    text->at[text->len_bytes] = '\0';
}

void text_buf_puts(struct text_buf *text, const char *string)
{
    text_buf_add(text, string, strlen(string));
}

void text_buf_printf(struct text_buf *text, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        text->bad = true;
    if (len < 0 || !reserve(text, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(text->at + text->len_bytes, (size_t)len + 1, format, args);
    va_end(args);
    text->len_bytes += (size_t)len;
}

void text_buf_cut(struct text_buf *text, size_t len_bytes)
{
    size_t left = text->len_bytes - len_bytes;

    if (len_bytes == 0)
        return;
    memmove(text->at, text->at + len_bytes, left);
    sodium_memzero(text->at + left, len_bytes);
    text->len_bytes = left;
}

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

void text_buf_quote(struct text_buf *text, const char *mem, size_t len_bytes,
                    size_t max_bytes)
{
    size_t show;

    while (len_bytes > 0 &&
           (mem[len_bytes - 1] == '\n' || mem[len_bytes - 1] == '\r'))
        len_bytes--;
    show = len_bytes < max_bytes ? len_bytes : max_bytes;
    for (size_t i = 0; i < show; i++) {
        unsigned char c = (unsigned char)mem[i];

        if (c == '\r' && i + 1 < len_bytes && mem[i + 1] == '\n')
            continue;
        if (c == '\n')
            text_buf_puts(text, " / ");
        else if (is_control(c))
            text_buf_printf(text, "\\x%02x", c);
        else
            text_buf_add(text, mem + i, 1);
    }
    if (show < len_bytes)
        text_buf_puts(text, "...");
}

void text_buf_field(struct text_buf *text, const char *field)
{
    text_buf_add(text, " ", 1);
    if (*field == '\0')
        text_buf_add(text, "%", 1);
    for (; *field != '\0'; field++) {
        unsigned char c = (unsigned char)*field;

        if (c <= ' ' || c == '%' || c >= 0x7f)
            text_buf_printf(text, "%%%02X", c);
        else
            text_buf_add(text, field, 1);
    }
}

void text_buf_number(struct text_buf *text, uint64_t value)
{
    text_buf_printf(text, " %" PRIu64, value);
}

void text_buf_hex(struct text_buf *text, const uint8_t *mem, size_t len_bytes)
{
    text_buf_add(text, " ", 1);
    if (!reserve(text, 2 * len_bytes))
        return;
    sodium_bin2hex(text->at + text->len_bytes, 2 * len_bytes + 1, mem,
                   len_bytes);
    text->len_bytes += 2 * len_bytes;
}

bool text_buf_is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:,+@%=";

    return *word != '\0' && word[strspn(word, plain)] == '\0';
}

void text_buf_shell_word(struct text_buf *text, const char *word)
{
    if (text_buf_is_plain(word)) {
        text_buf_puts(text, word);
        return;
    }
    text_buf_add(text, "'", 1);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            text_buf_puts(text, "'\\''");
        else
            text_buf_add(text, word, 1);
    }
    text_buf_add(text, "'", 1);
}

struct text_fields text_fields_init(char *line, size_t len_bytes)
{
    line[len_bytes] = '\0';
    return (struct text_fields){.at = line, .end = line + len_bytes};
}

static const char *fail(struct text_fields *fields)
{
    fields->bad = true;
    fields->at = NULL;
    return "";
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes the bytes from `from` to `to` in place. False when they are not
 * valid. */
static bool decode(char *from, const char *to)
{
    char *put = from;

    for (const char *get = from; get < to; get++) {
        unsigned char c = (unsigned char)*get;

        if (c <= ' ' || c >= 0x7f)
            return false;
        if (c == '%') {
            int high = to - get > 2 ? hex_digit(get[1]) : -1;
            int low = to - get > 2 ? hex_digit(get[2]) : -1;

            if (high < 0 || low < 0 || (high | low) == 0)
                return false;
            c = (unsigned char)(high << 4 | low);
            get += 2;
        }
        *put++ = (char)c;
    }
    *put = '\0';
    return true;
}

const char *text_fields_next(struct text_fields *fields)
{
    char *from = fields->at;
    char *to;

    if (from == NULL)
        return fail(fields);
    to = memchr(from, ' ', (size_t)(fields->end - from));
    fields->at = to == NULL ? NULL : to + 1;
    if (to == NULL)
        to = fields->end;
    if (to - from == 1 && *from == '%') {
        *from = '\0';
        return from;
    }
    if (from == to || !decode(from, to))
        return fail(fields);
    return from;
}

uint64_t text_fields_number(struct text_fields *fields, uint64_t min,
                            uint64_t max)
{
    const char *digits = text_fields_next(fields);
    uint64_t value = 0;
    bool is_good = *digits != '\0';

    for (; is_good && *digits != '\0'; digits++) {
        unsigned digit = (unsigned)(*digits - '0');

        is_good = digit <= 9 && value <= (max - digit) / 10 && digit <= max;
        value = 10 * value + digit;
    }
    if (is_good && value >= min)
        return value;
    fail(fields);
    return min;
}

void text_fields_hex(struct text_fields *fields, uint8_t *out, size_t len_bytes)
{
    const char *digits = text_fields_next(fields);
    bool is_good = strlen(digits) == 2 * len_bytes;

    memset(out, 0, len_bytes);
    for (size_t i = 0; is_good && i < len_bytes; i++) {
        int high = hex_digit(digits[2 * i]);
        int low = hex_digit(digits[2 * i + 1]);

        is_good = high >= 0 && low >= 0;
        if (is_good)
            out[i] = (uint8_t)(high << 4 | low);
    }
    if (is_good)
        return;
    sodium_memzero(out, len_bytes);
    fail(fields);
}

bool text_fields_done(const struct text_fields *fields)
{
    return !fields->bad && fields->at == NULL;
}
